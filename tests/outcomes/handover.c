/* A semaphore hands a value over; another one limits who is inside. */
#include "outcome.h"
#include <semaphore.h>

static sem_t full, inside;
static volatile int x, seen;

static void *producer(void *unused)
{
    x = 1;
    sem_post(&full);
    sem_wait(&inside);
    x = x + 2;
    sem_post(&inside);
    return unused;
}

static void *consumer(void *unused)
{
    sem_wait(&full);
    sem_wait(&inside);
    seen = x;
    sem_post(&inside);
    return unused;
}

int main(void)
{
    sem_init(&full, 0, 0);
    sem_init(&inside, 0, 1);
    run2(consumer, producer);
    return seen * 10 + x;
}
