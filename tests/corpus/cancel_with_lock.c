/* Cancellation: a thread is cancelled while it waits for a condition. It owns the mutex again when
 * its clean-up runs; without a clean-up handler nobody unlocks it. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static int waiting;

#ifdef FIXED
static void unlock(void *unused)
{
    (void)unused;
    pthread_mutex_unlock(&lock);
}
#endif

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    waiting = 1;
#ifdef FIXED
    pthread_cleanup_push(unlock, 0);
#endif
    for (;;)
        pthread_cond_wait(&never, &lock);
#ifdef FIXED
    pthread_cleanup_pop(1);
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, waiter, 0);
    pthread_cancel(t);
    pthread_join(t, 0);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return waiting > 1;
}
