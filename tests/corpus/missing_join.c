/* Order: the main thread reads a result without having joined the thread that computes it. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int result;

static void *compute(void *unused)
{
    pthread_mutex_lock(&lock);
    result = 42;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, compute, 0);
#ifdef FIXED
    pthread_join(t, 0);
#endif
    pthread_mutex_lock(&lock);
    int seen = result;
    pthread_mutex_unlock(&lock);
    assert(seen == 42);
#ifndef FIXED
    pthread_join(t, 0);
#endif
    return 0;
}
