// Relaxed accesses between fences; without the release fence nothing is handed on.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int data;
static atomic_int ready;

static void *produce(void *unused) {
    data = 1;
#ifdef FIXED
    atomic_thread_fence(memory_order_release);
#endif
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        sched_yield();
    atomic_thread_fence(memory_order_acquire);
    int seen = data;
    pthread_join(producer, 0);
    return seen != 1;
}
