/* The queue of Michael and Scott (PODC 1996, figure 1), with pointers and without reuse of nodes.
 * One thread puts in, the other takes out, each a limited number of tries.
 *
 * The argument is the number of tries. -DBUG: the taker moves the head without comparing, and there
 * are two takers, one in main. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

static int tries = 2;
static struct node nodes[32];
static _Atomic(struct node *) head = &nodes[0], tail = &nodes[0];
static int taken[32];

static int put(struct node *node)
{
    struct node *last = atomic_load(&tail);
    struct node *next = atomic_load(&last->next);
    if (last != atomic_load(&tail))
        return 0;
    if (next) {
        atomic_compare_exchange_strong(&tail, &last, next);
        return 0;
    }
    if (!atomic_compare_exchange_strong(&last->next, &next, node))
        return 0;
    atomic_compare_exchange_strong(&tail, &last, node);
    return 1;
}

static int take(void)
{
    struct node *first = atomic_load(&head);
    struct node *last = atomic_load(&tail);
    struct node *next = atomic_load(&first->next);
    if (first != atomic_load(&head) || !next)
        return 0;
    if (first == last) {
        atomic_compare_exchange_strong(&tail, &last, next);
        return 0;
    }
    int value = next->value;
#ifdef BUG
    atomic_store(&head, next);
    return value;
#else
    return atomic_compare_exchange_strong(&head, &first, next) ? value : 0;
#endif
}

static void *putter(void *unused)
{
    int used = 1;
    for (int k = 0; k < tries; k++) {
        nodes[used].value = used;
        used += put(&nodes[used]);
    }
    return unused;
}

static void *taker(void *unused)
{
    for (int k = 0; k < tries; k++) {
        int value = take();
        if (value) {
            assert(!taken[value]);
            taken[value] = 1;
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    if (argc > 1)
        tries = atoi(argv[1]);
    pthread_create(&s, 0, putter, 0);
    pthread_create(&t, 0, taker, 0);
#ifdef BUG
    taker(0);
#endif
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
