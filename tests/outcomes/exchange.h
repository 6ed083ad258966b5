/* An atomic of so many WORDS: a compare-exchange succeeds only if nothing has changed since the load,
 * and nobody sees one word of one store and one of another. */
#include "outcome.h"


typedef struct {
    _Alignas(WORDS == 2 ? 16 : 8) long word[WORDS];
} content;

static _Atomic content x;
static volatile int failed;

static void *add(void *unused)
{
    content old = atomic_load_explicit(&x, memory_order_acquire), new = old;
    for (int i = 0; i < WORDS; i++)
        new.word[i] += i + 1;
    failed = !atomic_compare_exchange_strong(&x, &old, new);
    if (failed && old.word[0] != 5)
        failed = 9;
    return unused;
}

static void *set(void *unused)
{
    content new = {{5}}, old;
    old = atomic_exchange(&x, new);
    if (old.word[WORDS - 1] != old.word[0] * WORDS)
        failed = 8;
    return unused;
}

int main(void)
{
    run2(add, set);
    content last = atomic_load(&x);
    return (int)last.word[0] + 10 * (int)last.word[WORDS - 1] + 100 * failed;
}
