// The waiter tests its condition once. Fixed: in a loop, as POSIX asks for. With ALWAYS it fails
// whatever happens; with ENDURED it gives up where it woke for no reason.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int ready;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *prepare(void *unused) {
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, prepare, 0);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!ready)
#else
    if (!ready)
#endif
        pthread_cond_wait(&changed, &lock);
#ifdef ALWAYS
    assert(!ready);
#endif
#ifdef ENDURED
    if (!ready)
        exit(0);
#endif
    assert(ready);
    pthread_mutex_unlock(&lock);
    pthread_join(worker, 0);
    return 0;
}
