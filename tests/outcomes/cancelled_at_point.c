/* A thread is cancelled in a cancellation point that never waits, in a wait for a semaphore, or not at all.
 * Whoever tries the semaphore meanwhile may take what it waits for. */
#include "outcome.h"
#include <semaphore.h>
#include <unistd.h>

static sem_t tokens;
static volatile int reached;

static void *waits(void *unused)
{
    close(-1);
    reached = 1;
    sem_wait(&tokens);
    reached = 2;
    return unused;
}

int main(void)
{
    pthread_t t;
    void *result;
    sem_init(&tokens, 0, 1);
    pthread_create(&t, NULL, waits, NULL);
    int took = !sem_trywait(&tokens);
    pthread_cancel(t);
    if (took)
        sem_post(&tokens);
    pthread_join(t, &result);
    return took * 6 + reached * 2 + (result == PTHREAD_CANCELED);
}
