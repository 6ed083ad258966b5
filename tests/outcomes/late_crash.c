/* The last thing that the other thread does is to write to nowhere; main ends the process right
 * before that, or earlier. */
#include "outcome.h"
#include <stdlib.h>

static volatile int x;

static void *crash_late(void *nowhere)
{
    x = 5;
    *(volatile int *)nowhere = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, crash_late, NULL);
    _Exit(x);
}
