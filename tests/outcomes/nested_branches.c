/* Branches on a value that another thread changes between the reads. */
#include "outcome.h"

static volatile int x, path;

static void *writer(void *unused)
{
    x = 1;
    x = 2;
    return unused;
}

static void *reader(void *unused)
{
    if (x == 0)
        path = x == 2 ? 1 : 2;
    else
        path = x == 1 ? 3 : 4;
    return unused;
}

int main(void)
{
    run2(writer, reader);
    return path;
}
