/* A thread lends a variable on its stack, takes it back at some time, and ends; who still has it may be
 * late. */
#include "outcome.h"

static _Atomic(volatile int *) lent;

static void *lender(void *unused)
{
    volatile int mine = 1;
    lent = &mine;
    lent = NULL;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, lender, NULL);
    volatile int *borrowed = lent;
    int seen = borrowed ? *borrowed : 2;
    pthread_join(t, NULL);
    return seen;
}
