/* Two compare-exchanges from the same value: exactly one succeeds; the loser sees the winner. */
#include "outcome.h"

static _Atomic int x;
static volatile int lost_to;

static void claim(int me)
{
    int expected = 0;
    if (!atomic_compare_exchange_strong(&x, &expected, me))
        lost_to = expected;
}

static void *one(void *unused)
{
    claim(1);
    return unused;
}

static void *two(void *unused)
{
    claim(2);
    return unused;
}

int main(void)
{
    run2(one, two);
    return atomic_load(&x) * 10 + lost_to;
}
