/* An atomic addition and an atomic exchange: each sees the other's value or not, never half. */
#include "outcome.h"

static _Atomic int x = 1;
static volatile int before_add, before_exchange;

static void *add(void *unused)
{
    before_add = atomic_fetch_add(&x, 2);
    return unused;
}

static void *exchange(void *unused)
{
    before_exchange = atomic_exchange(&x, 5);
    return unused;
}

int main(void)
{
    run2(add, exchange);
    return before_add * 10 + before_exchange + atomic_load(&x) * 20;
}
