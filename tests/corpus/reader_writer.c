/* Reader and writer with a hand-made lock: the writer looks at the number of readers and then
 * claims the lock, in two steps, so that a reader may come in between. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int readers, writing;
static int low, high;
#ifdef FIXED
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#endif

static void *reader(void *unused)
{
#ifdef FIXED
    pthread_rwlock_rdlock(&lock);
    assert(low == high);
    pthread_rwlock_unlock(&lock);
#else
    if (atomic_load(&writing))
        return unused;
    atomic_fetch_add(&readers, 1);
    assert(low == high);
    atomic_fetch_sub(&readers, 1);
#endif
    return unused;
}

static void *writer(void *unused)
{
#ifdef FIXED
    pthread_rwlock_wrlock(&lock);
#else
    if (atomic_load(&readers) > 0)
        return unused;
    atomic_store(&writing, 1);
#endif
    low++;
    high++;
#ifdef FIXED
    pthread_rwlock_unlock(&lock);
#else
    atomic_store(&writing, 0);
#endif
    return unused;
}

int main(void)
{
    pthread_t r, w;
    (void)readers, (void)writing;
    pthread_create(&r, 0, reader, 0);
    pthread_create(&w, 0, writer, 0);
    pthread_join(r, 0);
    pthread_join(w, 0);
    return 0;
}
