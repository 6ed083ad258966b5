/* Three references to one object: whoever drops the last one frees it, and that is one of them. */
#include "outcome.h"

static _Atomic int references;
static volatile int freed;

static void drop(int me)
{
    if (atomic_fetch_sub(&references, 1) == 1)
        freed += me;
}

static void *one(void *unused)
{
    drop(1);
    return unused;
}

static void *two(void *unused)
{
    atomic_fetch_add(&references, 1);
    drop(2);
    drop(4);
    return unused;
}

int main(void)
{
    atomic_store(&references, 2);
    run2(one, two);
    return freed;
}
