/* A timed wait for a token that comes, or comes too late. */
#include "outcome.h"
#include <semaphore.h>
#include <time.h>

static sem_t token;
static volatile int got, left = -1;

static void *taker(void *unused)
{
    struct timespec until = {0, 0};
    until.tv_sec = 4000000000L;
    got = sem_timedwait(&token, &until) == 0;
    return unused;
}

static void *giver(void *unused)
{
    sem_post(&token);
    return unused;
}

int main(void)
{
    int count;
    sem_init(&token, 0, 0);
    run2(taker, giver);
    sem_getvalue(&token, &count);
    left = count;
    return got * 10 + left;
}
