/* Updates of an atomic of two words by amounts that are inputs. */
#include "outcome.h"

static __int128 x;
static volatile int seen;

static void *adder(void *unused)
{
    __int128 amount = (__int128)input(0, 0, 3) << 64;
    __atomic_fetch_add(&x, amount + 1, __ATOMIC_SEQ_CST);
    return unused;
}

static void *exchanger(void *unused)
{
    __int128 expected = ((__int128)2 << 64) + 1;
    if (__atomic_compare_exchange_n(&x, &expected, 7, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        seen = 1;
    else if (expected >> 64 == 3)
        seen = 2;
    return unused;
}

int main(void)
{
    run2(adder, exchanger);
    return seen + 10 * (int)(__atomic_load_n(&x, __ATOMIC_SEQ_CST) >> 64);
}
