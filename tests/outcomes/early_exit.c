/* Main ends the process while the other thread is somewhere on its way; an atexit handler looks
 * how far it came. */
#include "outcome.h"
#include <stdlib.h>
#include <unistd.h>

static volatile int x;

static void look(void)
{
    _exit(x);
}

static void *count(void *unused)
{
    x = 1;
    x = 2;
    return unused;
}

int main(void)
{
    pthread_t t;
    atexit(look);
    pthread_create(&t, NULL, count, NULL);
    return 0;
}
