// The block may be freed before its user has written to it, or after. Fixed: after the join.
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static void *use(void *block) {
    *(volatile int *)block = 1;
    return 0;
}

int main(void) {
    int *block = malloc(sizeof *block);
    pthread_t worker;
    pthread_create(&worker, 0, use, block);
    for (int i = 0; i < 20; i++)
        sched_yield();
#ifdef FIXED
    pthread_join(worker, 0);
    free(block);
#else
    free(block);
    pthread_join(worker, 0);
#endif
    return 0;
}
