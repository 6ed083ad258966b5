/* A switch over a shared value. */
#include "outcome.h"

static volatile int x, path;

static void *writer(void *unused)
{
    x = 3;
    x = 7;
    return unused;
}

static void *reader(void *unused)
{
    switch (x) {
    case 0:
        path = 10;
        break;
    case 3:
        path = 20;
        break;
    case 5:
        path = 30;
        break;
    default:
        path = 40;
    }
    return unused;
}

int main(void)
{
    run2(writer, reader);
    return path;
}
