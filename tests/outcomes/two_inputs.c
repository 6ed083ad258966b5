/* Two inputs in two threads meet in a third location. */
#include "outcome.h"

static volatile int x, result;

static void *one(void *unused)
{
    int i = input(0, 0, 2);
    x = x + i;
    return unused;
}

static void *two(void *unused)
{
    int j = input(1, 0, 2);
    if (x == j)
        result = 1;
    else if (x > j)
        result = 2;
    return unused;
}

int main(void)
{
    run2(one, two);
    return result;
}
