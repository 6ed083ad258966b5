/* One token, two threads that try for it, one of which gives it back. */
#include "outcome.h"
#include <semaphore.h>

static sem_t token;
static volatile int got_one, got_two;

static void *one(void *unused)
{
    got_one = sem_trywait(&token) == 0;
    if (got_one)
        sem_post(&token);
    return unused;
}

static void *two(void *unused)
{
    got_two = sem_trywait(&token) == 0;
    return unused;
}

int main(void)
{
    sem_init(&token, 0, 1);
    run2(one, two);
    return got_one * 10 + got_two;
}
