// The store releases, but the load does not acquire. Fixed: it does.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef FIXED
#define LOAD memory_order_acquire
#else
#define LOAD memory_order_relaxed
#endif

static int data;
static atomic_int ready;

static void *produce(void *unused) {
    data = 1;
    atomic_store_explicit(&ready, 1, memory_order_release);
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    while (!atomic_load_explicit(&ready, LOAD))
        sched_yield();
    int seen = data;
    pthread_join(producer, 0);
    return seen != 1;
}
