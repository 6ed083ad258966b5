// Another thread changes the flag between release and acquire: an update carries the release
// sequence on, a store ends it.
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static int data;
static atomic_int stage;

static void *produce(void *unused) {
    data = 1;
    atomic_store_explicit(&stage, 1, memory_order_release);
    return unused;
}

static void *pass_on(void *unused) {
    while (atomic_load_explicit(&stage, memory_order_relaxed) != 1)
        sched_yield();
#ifdef FIXED
    atomic_fetch_add_explicit(&stage, 1, memory_order_relaxed);
#else
    atomic_store_explicit(&stage, 2, memory_order_relaxed);
#endif
    return unused;
}

int main(void) {
    pthread_t producer, middle;
    pthread_create(&producer, 0, produce, 0);
    pthread_create(&middle, 0, pass_on, 0);
    while (atomic_load_explicit(&stage, memory_order_acquire) != 2)
        sched_yield();
    int seen = data;
    pthread_join(producer, 0);
    pthread_join(middle, 0);
    return seen != 1;
}
