/* The same lock, which one thread also gives back when it did not get it. */
#include "outcome.h"

static volatile unsigned char lock;
static volatile int a, seen;

static void *owner(void *unused)
{
    if (!__atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST)) {
        a = 1;
        a = 2;
        __atomic_store_n(&lock, 0, __ATOMIC_SEQ_CST);
    }
    return unused;
}

static void *thief(void *unused)
{
    unsigned char before = __atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&lock, 0, __ATOMIC_SEQ_CST);
    if (before && !__atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST))
        seen = 1 + a;
    return unused;
}

int main(void)
{
    run2(owner, thief);
    return seen;
}
