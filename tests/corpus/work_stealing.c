/* Work-stealing queue: the owner takes the last item without competing for it with the thief, so
 * that both may get it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int head, tail;
static int items[4];
static _Atomic int done[4];

static void run(int item)
{
    assert(atomic_fetch_add(&done[item], 1) == 0);
}

static void push(int item)
{
    int t = atomic_load(&tail);
    items[t] = item;
    atomic_store(&tail, t + 1);
}

static void take(void)
{
    int t = atomic_load(&tail) - 1;
    atomic_store(&tail, t);
    int h = atomic_load(&head);
    if (h < t) {
        run(items[t]);
    } else if (h == t) {
#ifdef FIXED
        if (atomic_compare_exchange_strong(&head, &h, h + 1))
#endif
            run(items[t]);
        atomic_store(&tail, t + 1);
    } else {
        atomic_store(&tail, t + 1);
    }
}

static void *thief(void *unused)
{
    int h = atomic_load(&head);
    if (h >= atomic_load(&tail))
        return unused;
    int item = items[h];
    if (atomic_compare_exchange_strong(&head, &h, h + 1))
        run(item);
    return unused;
}

int main(void)
{
    pthread_t t;
    push(0);
    push(1);
    pthread_create(&t, 0, thief, 0);
    take();
    take();
    pthread_join(t, 0);
    return 0;
}
