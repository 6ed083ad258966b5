/* Deadlock (timerthread): the timer thread looks whether it is to stop before it takes the lock with
 * which it waits; the shutdown in between sets the flag, notifies nobody and joins for ever. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t tick = PTHREAD_COND_INITIALIZER;
static _Atomic int stop;
static int timers;

static void *run(void *unused)
{
    while (!stop) {
        pthread_mutex_lock(&lock);
        timers++;
#ifdef FIXED
        if (!stop)
#endif
            pthread_cond_wait(&tick, &lock);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, run, 0);
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_signal(&tick);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
