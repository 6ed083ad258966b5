// The result is read before the join. Fixed: after it.
#include <pthread.h>

static int result;

static void *compute(void *unused) {
    result = 1;
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, compute, 0);
#ifdef FIXED
    pthread_join(worker, 0);
    return result - 1;
#else
    volatile int seen = result;
    pthread_join(worker, 0);
    return seen > 1;
#endif
}
