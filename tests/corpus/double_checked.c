/* Double-checked initialisation: the pointer is published before the object is filled in, and
 * the fast path takes no lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

struct config {
    int ready;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct config storage;
static _Atomic(struct config *) config;

static struct config *get(void)
{
    struct config *c = atomic_load(&config);
    if (c)
        return c;
    pthread_mutex_lock(&lock);
    if (!atomic_load(&config)) {
#ifdef FIXED
        storage.ready = 1;
        atomic_store(&config, &storage);
#else
        atomic_store(&config, &storage);
        storage.ready = 1;
#endif
    }
    pthread_mutex_unlock(&lock);
    return atomic_load(&config);
}

static void *use(void *unused)
{
    assert(get()->ready);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, use, 0);
    pthread_create(&b, 0, use, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
