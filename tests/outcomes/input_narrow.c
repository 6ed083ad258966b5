/* The input is cut to eight bits, with and without a sign. */
#include "outcome.h"

static volatile signed char narrow;
static volatile int result;

static void *writer(void *unused)
{
    narrow = (signed char)(input(0, 0, 3) * 100);
    return unused;
}

static void *reader(void *unused)
{
    signed char v = narrow;
    if (v < 0)
        result = (unsigned char)v > 190 ? 1 : 2;
    else if (v > 0)
        result = 3;
    return unused;
}

int main(void)
{
    run2(writer, reader);
    return result;
}
