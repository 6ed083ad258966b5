/* Order (createthread): the new thread uses its own handle, which the creator stores only when the
 * call that makes the thread has returned. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int handle_is_set;
static int started;

static void *root(void *unused)
{
    pthread_mutex_lock(&lock);
    started = 1;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
    assert(handle_is_set);
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    pthread_create(&t, 0, root, 0);
    handle_is_set = 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    pthread_join(t, 0);
    return 0;
}
