// An atomic variable is also read as an ordinary one. Fixed: never.
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int counter;

static void *add(void *unused) {
    atomic_fetch_add(&counter, 1);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, add, 0);
#ifdef FIXED
    int seen = atomic_load(&counter);
#else
    int seen = *(volatile int *)&counter;
#endif
    pthread_join(worker, 0);
    return seen > 1;
}
