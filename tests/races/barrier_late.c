// Each thread reads what the other wrote in the same phase; fixed: behind a barrier.
#include <pthread.h>

static int cells[2];
static pthread_barrier_t barrier;

static void *work(void *which) {
    int me = which != &cells[0];
    cells[me] = 1;
#ifdef FIXED
    pthread_barrier_wait(&barrier);
#endif
    int other = cells[!me];
    (void)other;
    return (void *)(long)(other > 1);
}

int main(void) {
    pthread_t first, second;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&first, 0, work, &cells[0]);
    pthread_create(&second, 0, work, &cells[1]);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
