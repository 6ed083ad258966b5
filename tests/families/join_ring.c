/* Three threads join each other in a ring. */
#include <pthread.h>

static pthread_t threads[3];
static pthread_barrier_t made;

static void *join_next(void *number)
{
    long n = (long)number;
    pthread_barrier_wait(&made);
#ifdef FIXED
    if (n == 2)
        return 0;
#endif
    pthread_join(threads[(n + 1) % 3], 0);
    return 0;
}

int main(void)
{
    pthread_barrier_init(&made, 0, 4);
    for (long n = 0; n < 3; n++)
        pthread_create(&threads[n], 0, join_next, (void *)n);
    pthread_barrier_wait(&made);
#ifdef FIXED
    pthread_join(threads[0], 0);
#else
    pthread_exit(0);
#endif
    return 0;
}
