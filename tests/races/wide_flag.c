// A flag of two words, the second of which says that the data is there.
#include <pthread.h>
#include <stdatomic.h>

#ifdef FIXED
#define ORDER memory_order_acquire
#else
#define ORDER memory_order_relaxed
#endif

typedef struct {
    _Alignas(16) long count, ready;
} flag;

static int data;
static _Atomic flag shared;

static void *produce(void *unused) {
    flag old = atomic_load_explicit(&shared, memory_order_relaxed), new = {old.count + 1, 1};
    data = 1;
    atomic_compare_exchange_strong_explicit(&shared, &old, new, memory_order_release,
                                            memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    flag now;
    do
        now = atomic_load_explicit(&shared, ORDER);
    while (!now.ready);
    int seen = data;
    pthread_join(producer, 0);
    return seen != 1;
}
