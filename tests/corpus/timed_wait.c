/* Timed wait: the return of pthread_cond_timedwait is taken for the event, though the time may
 * have run out. */
#include <assert.h>
#include <pthread.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int value;

static void *fill(void *unused)
{
    pthread_mutex_lock(&lock);
    value = 42;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t t;
    struct timespec until;
    int error = 0;
    pthread_create(&t, 0, fill, 0);
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 1;
    pthread_mutex_lock(&lock);
    while (!value && !error)
        error = pthread_cond_timedwait(&filled, &lock, &until);
#ifdef FIXED
    if (!error)
#endif
        assert(value == 42);
    pthread_mutex_unlock(&lock);
    pthread_join(t, 0);
    return 0;
}
