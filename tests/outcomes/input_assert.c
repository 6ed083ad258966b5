/* An assertion that only one input and one order violate. */
#include "outcome.h"
#include <assert.h>

static volatile int x, y;

static void *one(void *unused)
{
    x = input(0, 0, 3);
    y = 1;
    return unused;
}

static void *two(void *unused)
{
    if (x == 2)
        assert(y == 1);
    return unused;
}

int main(void)
{
    run2(one, two);
    return x == 2;
}
