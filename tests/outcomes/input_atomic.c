/* Atomic updates by an amount that is an input. */
#include "outcome.h"

static _Atomic int x;
static volatile int seen;

static void *adder(void *unused)
{
    atomic_fetch_add(&x, input(0, 0, 3));
    return unused;
}

static void *exchanger(void *unused)
{
    int expected = 2;
    if (atomic_compare_exchange_strong(&x, &expected, 7))
        seen = 1;
    else if (expected == 3)
        seen = 2;
    return unused;
}

int main(void)
{
    run2(adder, exchanger);
    return seen;
}
