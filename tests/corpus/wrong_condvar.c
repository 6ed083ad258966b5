/* Producers and consumers of a one-place buffer wait on the same condition, and a signal may wake
 * one of the wrong sort, which goes back to sleep: everybody sleeps. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int full;

static void wake(void)
{
#ifdef FIXED
    pthread_cond_broadcast(&changed);
#else
    pthread_cond_signal(&changed);
#endif
}

static void *produce(void *unused)
{
    pthread_mutex_lock(&lock);
    while (full)
        pthread_cond_wait(&changed, &lock);
    full = 1;
    wake();
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!full)
        pthread_cond_wait(&changed, &lock);
    full = 0;
    wake();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], 0, i < 2 ? consume : produce, 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
    return 0;
}
