/* Store buffering: under sequential consistency at least one thread sees the other's write. */
#include "outcome.h"

static volatile int x, y, seen_y, seen_x;

static void *one(void *unused)
{
    x = 1;
    seen_y = y;
    return unused;
}

static void *two(void *unused)
{
    y = 1;
    seen_x = x;
    return unused;
}

int main(void)
{
    run2(one, two);
    return seen_x * 10 + seen_y;
}
