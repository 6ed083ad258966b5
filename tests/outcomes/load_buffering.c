/* Load buffering: not both threads see the other's later write. */
#include "outcome.h"

static volatile int x, y, seen_x, seen_y;

static void *one(void *unused)
{
    seen_x = x;
    y = 1;
    return unused;
}

static void *two(void *unused)
{
    seen_y = y;
    x = 1;
    return unused;
}

int main(void)
{
    run2(one, two);
    return seen_x * 10 + seen_y;
}
