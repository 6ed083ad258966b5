/* Lock-free work-stealing queue with both ends in one word. The owner announces a new item before it
 * has written it. */
#include "deque.h"

static _Atomic unsigned state; /* head in the low half, tail in the high half */

static void push(int item)
{
    unsigned s = state;
#ifdef FIXED
    items[s >> 16] = item;
#endif
    while (!atomic_compare_exchange_strong(&state, &s, s + 0x10000))
        ;
#ifndef FIXED
    items[s >> 16] = item;
#endif
}

static int take(void)
{
    unsigned s = state;
    while ((s & 0xffff) != s >> 16)
        if (atomic_compare_exchange_strong(&state, &s, s - 0x10000))
            return items[(s >> 16) - 1];
    return NONE;
}

static int steal(void)
{
    unsigned s = state;
    while ((s & 0xffff) != s >> 16) {
        int item = items[s & 0xffff];
        if (atomic_compare_exchange_strong(&state, &s, s + 1))
            return item;
    }
    return NONE;
}
