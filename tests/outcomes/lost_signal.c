/* A wait without a predicate: the signal may come too early, and then nobody sends another one. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t sent = PTHREAD_COND_INITIALIZER;
static volatile int late;

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&sent, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *sender(void *unused)
{
    late = 1;
    pthread_cond_signal(&sent);
    return unused;
}

int main(void)
{
    run2(waiter, sender);
    return late;
}
