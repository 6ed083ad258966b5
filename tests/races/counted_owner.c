// Whoever gives up the last reference destroys the lock and frees it. The count is relaxed, so the
// lock may go before the other is through with it. Fixed: the count acquires and releases.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef FIXED
#define ORDER memory_order_acq_rel
#else
#define ORDER memory_order_relaxed
#endif

struct owned {
    atomic_int owners;
    pthread_rwlock_t lock;
};

static void *own(void *given) {
    struct owned *one = given;
    pthread_rwlock_rdlock(&one->lock);
    pthread_rwlock_unlock(&one->lock);
    if (atomic_fetch_sub_explicit(&one->owners, 1, ORDER) == 1) {
        pthread_rwlock_destroy(&one->lock);
        free(one);
    }
    return 0;
}

int main(void) {
    pthread_t other;
    struct owned *one = malloc(sizeof *one);
    atomic_init(&one->owners, 2);
    pthread_rwlock_init(&one->lock, 0);
    pthread_create(&other, 0, own, one);
    own(one);
    pthread_join(other, 0);
    return 0;
}
