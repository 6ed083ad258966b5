/* An account that is one atomic of so many WORDS: what it holds, and how many payments there were.
 * Two payments of amounts that are inputs; one may be lost, unless (FIXED) each is a
 * compare-exchange. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

int __VERIFIER_nondet_int(void);

typedef struct {
    _Alignas(WORDS == 2 ? 16 : 8) long word[WORDS];
} content;

static _Atomic content account;
static int wanted[2], paid[2];

static void *pay(void *which)
{
    long i = (long)which;
    content old = atomic_load(&account), new;
    do {
        if (old.word[0] < wanted[i])
            return NULL;
        new = old;
        new.word[0] -= wanted[i];
        new.word[WORDS - 1]++;
#ifdef FIXED
    } while (!atomic_compare_exchange_strong(&account, &old, new));
#else
        old = atomic_exchange(&account, new);
    } while (0);
#endif
    paid[i] = wanted[i];
    return NULL;
}

int main(void)
{
    pthread_t other;
    atomic_store(&account, ((content){{100}}));
    for (int i = 0; i < 2; i++) {
        wanted[i] = __VERIFIER_nondet_int();
        if (wanted[i] < 1)
            return 0;
    }
    pthread_create(&other, NULL, pay, (void *)1);
    pay(NULL);
    pthread_join(other, NULL);
    content last = atomic_load(&account);
    assert(last.word[0] >= 0 && last.word[0] == 100l - paid[0] - paid[1]);
    assert(last.word[WORDS - 1] == !!paid[0] + !!paid[1]);
    return 0;
}
