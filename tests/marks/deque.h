/* What the work-stealing queues have in common: an owner that pushes four items and takes what it
 * gets, a thief that steals twice, and the check that no item is lost or handed out twice. Each
 * program defines the three operations. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { ITEMS = 4, NONE = 0 };
static int items[ITEMS];
static _Atomic int runs[ITEMS + 1];

static void push(int item);
static int take(void);
static int steal(void);

static void run(int item)
{
    if (item != NONE)
        assert(atomic_fetch_add(&runs[item], 1) == 0);
}

static void *thief(void *unused)
{
    for (int i = 0; i < 3; i++)
        run(steal());
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, thief, 0);
    for (int i = 1; i <= ITEMS; i++)
        push(i);
    for (int item = 1; item != NONE; run(item))
        item = take();
    pthread_join(t, 0);
    for (int i = 1; i <= ITEMS; i++)
        assert(runs[i] == 1);
    return 0;
}
