/* A byte as a lock, taken by exchange: what one thread does in its section the other sees whole. */
#include "outcome.h"

static volatile unsigned char lock;
static volatile int a, b, seen;

static void *writer(void *unused)
{
    if (!__atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST)) {
        a = 1;
        b = 1;
        __atomic_store_n(&lock, 0, __ATOMIC_SEQ_CST);
    }
    return unused;
}

static void *reader(void *unused)
{
    if (!__atomic_exchange_n(&lock, 1, __ATOMIC_SEQ_CST)) {
        seen = 1 + a * 2;
        seen += b * 4;
        __atomic_store_n(&lock, 0, __ATOMIC_SEQ_CST);
    }
    return unused;
}

int main(void)
{
    run2(writer, reader);
    return seen * 2 + a;
}
