/* Coherence: two reads of one location never go back in time. */
#include "outcome.h"

static volatile int x, first, second;

static void *writer(void *unused)
{
    x = 1;
    x = 2;
    return unused;
}

static void *reader(void *unused)
{
    first = x;
    second = x;
    return unused;
}

int main(void)
{
    run2(writer, reader);
    return first * 10 + second;
}
