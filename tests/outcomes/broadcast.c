/* A broadcast wakes whoever waits; who has the lock first decides the digits. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static volatile int open, waited;

static void *visitor(void *unused)
{
    pthread_mutex_lock(&lock);
    if (!open) {
        waited++;
        pthread_cond_wait(&opened, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *porter(void *unused)
{
    pthread_mutex_lock(&lock);
    open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, visitor, NULL);
    run2(visitor, porter);
    pthread_join(t, NULL);
    return waited;
}
