/* The owner of a robust, process-shared mutex ends with it; the next one must repair the state. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t lock;

static void *dies(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    return 0;
}

static void *lives(void *unused)
{
    int code = pthread_mutex_lock(&lock);
    (void)unused;
#ifdef FIXED
    if (code == EOWNERDEAD)
        code = pthread_mutex_consistent(&lock);
#endif
    (void)code;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_t a, b;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    pthread_mutex_init(&lock, &attributes);
    pthread_create(&a, 0, dies, 0);
    pthread_create(&b, 0, lives, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    int code = pthread_mutex_lock(&lock);
    assert(code != ENOTRECOVERABLE);
    return 0;
}
