// Whether the data is read depends on a flag. Compilers like to read first and then to decide whether
// that counts; that is no race of the program.
#include <pthread.h>
#include <stdatomic.h>

#ifdef FIXED
#define ORDER memory_order_acquire
#else
#define ORDER memory_order_relaxed
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
    int seen = 1;
    pthread_create(&producer, 0, produce, 0);
    if (atomic_load_explicit(&ready, ORDER))
        seen = data;
    pthread_join(producer, 0);
    return seen != 1;
}
