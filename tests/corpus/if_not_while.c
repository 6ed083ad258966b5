/* A woken consumer takes an item without looking again whether another consumer was faster. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int items;

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (items == 0)
#else
    if (items == 0)
#endif
        pthread_cond_wait(&filled, &lock);
    items--;
    assert(items >= 0);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *produce(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        items++;
        pthread_cond_broadcast(&filled);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t c1, c2, p;
    pthread_create(&c1, 0, consume, 0);
    pthread_create(&c2, 0, consume, 0);
    pthread_create(&p, 0, produce, 0);
    pthread_join(c1, 0);
    pthread_join(c2, 0);
    pthread_join(p, 0);
    return 0;
}
