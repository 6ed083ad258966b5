/* The writer's value depends on the input, the reader's path on the writer's value. */
#include "outcome.h"

static volatile int x, seen;

static void *writer(void *unused)
{
    int i = input(0, 0, 4);
    if (i > 2)
        x = i;
    else
        x = 9;
    return unused;
}

static void *reader(void *unused)
{
    int v = x;
    if (v == 4)
        seen = 1;
    else if (v > 5)
        seen = 2;
    else
        seen = 3;
    return unused;
}

int main(void)
{
    run2(writer, reader);
    return seen;
}
