/* A timed wait for a signal that may come too late. */
#include "outcome.h"
#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int full, result;

static void *waiter(void *unused)
{
    struct timespec until;
    int error = 0;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    pthread_mutex_lock(&lock);
    while (!full && !error)
        error = pthread_cond_timedwait(&changed, &lock, &until);
    result = (error == ETIMEDOUT) * 10 + full;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *signaller(void *unused)
{
    pthread_mutex_lock(&lock);
    full = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    run2(waiter, signaller);
    return result;
}
