/* Two threads that yield N times each: under `rr` every step switches to the other one, under
 * `random` half of them do. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

static void *work(void *rounds)
{
    for (long i = 0; i < (long)rounds; i++)
        sched_yield();
    return 0;
}

int main(int argc, char **argv)
{
    long rounds = argc > 1 ? atol(argv[1]) : 1000;
    pthread_t a, b;
    pthread_create(&a, 0, work, (void *)rounds);
    pthread_create(&b, 0, work, (void *)rounds);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
