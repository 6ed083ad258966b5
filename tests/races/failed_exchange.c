// A compare-exchange that fails reads, by its order of failure: relaxed it acquires nothing.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#ifdef FIXED
#define FAILURE memory_order_acquire
#else
#define FAILURE memory_order_relaxed
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
    int expected = 2;
    do {
        sched_yield();
        expected = 2;
        atomic_compare_exchange_strong_explicit(&ready, &expected, 3, memory_order_acq_rel,
                                                FAILURE);
    } while (expected != 1);
    int seen = data;
    pthread_join(producer, 0);
    return seen != 1;
}
