/* A lock with a deadline: it is had, or time runs out while the other thread is inside. */
#include "outcome.h"
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, entered;

static void *patient(void *unused)
{
    pthread_mutex_lock(&lock);
    x++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *hasty(void *unused)
{
    struct timespec until = {4000000000L, 0};
    if (pthread_mutex_timedlock(&lock, &until) == 0) {
        entered = 1 + x;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    run2(patient, hasty);
    return entered;
}
