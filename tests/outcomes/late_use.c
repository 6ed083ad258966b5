/* The last thing that the other thread does is to use a block after free; main ends the process
 * right before that, or earlier. */
#include "outcome.h"
#include <stdlib.h>

static volatile int x;

static void *use_late(void *block)
{
    volatile int *number = block;
    free(block);
    x = 5;
    *number = 1;
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, use_late, malloc(sizeof(int)));
    _Exit(x);
}
