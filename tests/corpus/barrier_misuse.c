/* Barrier misuse: a worker that finds no work left goes home without arriving at the barrier,
 * where the other waits for it. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static int jobs = 3;

static int take(int most)
{
    pthread_mutex_lock(&lock);
    int taken = jobs < most ? jobs : most;
    jobs -= taken;
    pthread_mutex_unlock(&lock);
    return taken;
}

static void *worker(void *most)
{
    int got = take((int)(long)most) + take(1);
#ifndef FIXED
    if (got == 0)
        return 0;
#endif
    pthread_barrier_wait(&barrier);
    return got ? 0 : most;
}

int main(void)
{
    pthread_t a, b;
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&a, 0, worker, (void *)2L);
    pthread_create(&b, 0, worker, (void *)2L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
