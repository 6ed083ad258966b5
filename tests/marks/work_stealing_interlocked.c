/* Lock-free work-stealing queue in which the last item is competed for by compare-and-swap. The
 * owner looks where the thieves are before it announces which item it takes: what it saw is old when
 * they have stolen up to that item since. */
#include "deque.h"

static _Atomic int head, tail;

static void push(int item)
{
    items[tail] = item;
    tail = tail + 1;
}

static int take(void)
{
#ifdef FIXED
    int t = tail - 1;
    tail = t;
    int h = head;
#else
    int h = head;
    int t = tail - 1;
    tail = t;
#endif
    if (h < t)
        return items[t];
    int item = NONE;
    if (h == t && atomic_compare_exchange_strong(&head, &h, h + 1))
        item = items[t];
    tail = t + 1;
    return item;
}

static int steal(void)
{
    int h = head;
    if (h >= tail)
        return NONE;
    int item = items[h];
    return atomic_compare_exchange_strong(&head, &h, h + 1) ? item : NONE;
}
