/* A condition variable with a predicate: who comes first decides the digits. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int full, waited;

static void *consumer(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!full) {
        waited++;
        pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *producer(void *unused)
{
    pthread_mutex_lock(&lock);
    full = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    run2(consumer, producer);
    return waited;
}
