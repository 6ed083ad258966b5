/* Sleeps are no order: either thread may come first, whatever they sleep. */
#include "outcome.h"
#include <unistd.h>

static volatile int x;

static void *late(void *unused)
{
    usleep(2000);
    x = x * 2 + 1;
    return unused;
}

static void *soon(void *unused)
{
    usleep(1000);
    x = x + 3;
    return unused;
}

int main(void)
{
    run2(late, soon);
    return x;
}
