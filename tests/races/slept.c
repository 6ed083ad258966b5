// The result is read after a while, by which the other thread has always ended, and not after a
// join. Fixed: after the join.
#include <pthread.h>
#include <unistd.h>

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
    usleep(1000);
    volatile int seen = result;
    pthread_join(worker, 0);
    return seen > 1;
#endif
}
