/* ABA: pop() of a lock-free stack reads the top's successor; before its compare-exchange another
 * thread pops two nodes and pushes the first one back. The exchange succeeds and puts a node that
 * is in use on the stack. The fixed version counts its changes in the upper half of the top. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { NODES = 3 };
static _Atomic unsigned long top;
static _Atomic unsigned next[NODES + 1];
static _Atomic int owned[NODES + 1];

static unsigned long tagged(unsigned long old, unsigned node)
{
#ifdef FIXED
    return ((old >> 32) + 1) << 32 | node;
#else
    (void)old;
    return node;
#endif
}

static void push(unsigned node)
{
    unsigned long old = atomic_load(&top);
    do
        atomic_store(&next[node], (unsigned)old);
    while (!atomic_compare_exchange_strong(&top, &old, tagged(old, node)));
}

static unsigned pop(void)
{
    unsigned long old = atomic_load(&top);
    for (;;) {
        unsigned node = (unsigned)old;
        if (node == 0)
            return 0;
        unsigned after = atomic_load(&next[node]);
        if (atomic_compare_exchange_strong(&top, &old, tagged(old, after)))
            return node;
    }
}

static void take(unsigned node)
{
    if (node)
        assert(atomic_fetch_add(&owned[node], 1) == 0);
}

static void *one(void *unused)
{
    take(pop());
    take(pop());
    return unused;
}

static void *two(void *unused)
{
    unsigned a = pop();
    take(pop());
    if (a)
        push(a);
    return unused;
}

int main(void)
{
    pthread_t s, t;
    for (unsigned i = NODES; i > 0; i--)
        push(i);
    pthread_create(&s, 0, one, 0);
    pthread_create(&t, 0, two, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
