/* A thread counts in a register until it is told to stop. -DATOMIC: by an atomic flag; -DBUG: that it has
 * counted at all is a failure. */
#include <pthread.h>

#ifdef ATOMIC
static _Atomic int stop;
#else
static volatile int stop;
#endif
static void *counts(void *unused)
{
    (void)unused;
    long rounds = 0;
    while (!stop) rounds++;
    return (void *)rounds;
}

int main(void)
{
    pthread_t thread;
    void *rounds;
    pthread_create(&thread, 0, counts, 0);
    stop = 1;
    pthread_join(thread, &rounds);
#ifdef BUG
    return rounds != 0;
#else
    return 0;
#endif
}
