/* Who comes last to a barrier is told so; what was written before it is seen after it. */
#include "outcome.h"

static pthread_barrier_t barrier;
static volatile int x, serial, seen;

static void *one(void *unused)
{
    x = 1;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        serial = 1;
    return unused;
}

static void *two(void *unused)
{
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        serial = 2;
    seen = x;
    return unused;
}

int main(void)
{
    pthread_barrier_init(&barrier, NULL, 2);
    run2(one, two);
    return serial * 10 + seen;
}
