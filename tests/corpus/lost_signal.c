/* Lost signal: the waiter does not look whether what it waits for has already happened. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void *announce(void *unused)
{
    pthread_mutex_lock(&lock);
    is_ready = 1;
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, announce, 0);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!is_ready)
#endif
        pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return is_ready ? 0 : 1;
}
