/* Two unprotected increments: 1 or 2. */
#include "outcome.h"

static volatile int x;

static void *add(void *unused)
{
    x = x + 1;
    return unused;
}

int main(void)
{
    run2_children(add, add);
    return x;
}
