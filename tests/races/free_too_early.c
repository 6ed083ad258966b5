// The block is freed without waiting for its user. Fixed: after the join. (The user is through
// before the block goes in every execution that is run until blocked; the race is there anyway.)
#include <pthread.h>
#include <stdlib.h>
#include <stdatomic.h>
#include <sched.h>

static atomic_int used;

static void *use(void *block) {
    *(volatile int *)block = 1;
    atomic_store_explicit(&used, 1, memory_order_relaxed);
    return 0;
}

int main(void) {
    int *block = malloc(sizeof *block);
    pthread_t worker;
    pthread_create(&worker, 0, use, block);
#ifdef FIXED
    pthread_join(worker, 0);
    free(block);
#else
    while (!atomic_load_explicit(&used, memory_order_relaxed))
        sched_yield();
    free(block);
    pthread_join(worker, 0);
#endif
    return 0;
}
