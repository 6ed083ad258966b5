/* An address that is computed from a shared value. */
#include "outcome.h"

static volatile int index_of, table[3];

static void *chooser(void *unused)
{
    index_of = 1;
    index_of = 2;
    return unused;
}

static void *writer(void *unused)
{
    table[index_of] = 1;
    return unused;
}

int main(void)
{
    run2(chooser, writer);
    return table[0] + 2 * table[1] + 4 * table[2];
}
