/* Work-stealing queue in which thieves exclude each other by a lock and the owner takes without one.
 * The thief looks whether there is an item before it claims one, so that the owner may take the last
 * item in between. */
#include "deque.h"

static pthread_mutex_t thieves = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int head, tail;

static void push(int item)
{
    items[tail] = item;
    tail = tail + 1;
}

static int take(void)
{
    int t = tail - 1;
    tail = t;
    if (head <= t)
        return items[t];
    tail = t + 1;
    pthread_mutex_lock(&thieves);
    t = tail - 1;
    int item = head <= t ? items[t] : NONE;
    if (item != NONE)
        tail = t;
    pthread_mutex_unlock(&thieves);
    return item;
}

static int steal(void)
{
    int item = NONE;
    pthread_mutex_lock(&thieves);
    int h = head;
#ifdef FIXED
    head = h + 1;
    if (h < tail)
        item = items[h];
    else
        head = h;
#else
    if (h < tail) {
        item = items[h];
        head = h + 1;
    }
#endif
    pthread_mutex_unlock(&thieves);
    return item;
}
