/* A thread in a wait is cancelled, or signalled before. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static volatile int ready, passed, undone;

static void undo(void *unused)
{
    (void)unused;
    undone = 1;
    pthread_mutex_unlock(&lock);
}

static void *waiter(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(undo, NULL);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_cleanup_pop(0);
    pthread_mutex_unlock(&lock);
    passed = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, waiter, NULL);
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_cancel(t);
    pthread_join(t, &result);
    return passed * 10 + undone * 2 + (result == PTHREAD_CANCELED);
}
