/* Main ends the process while another thread is about to do so. */
#define _GNU_SOURCE
#include "calls.h"

static volatile int first, second;

static void *ends(void *unused)
{
    first = 1;
    second = 1;
    _exit(1);
    return unused;
}

static int returns(void)
{
    start(ends, 0);
    return 0;
}

static int exits(void)
{
    start(ends, 0);
    exit(0);
}

static int exits_quickly(void)
{
    start(ends, 0);
    quick_exit(0);
}

static int exits_at_once(void)
{
    start(ends, 0);
    _Exit(0);
}

static const struct mode modes[] = {
    MODE(returns), MODE(exits), MODE(exits_quickly), MODE(exits_at_once),
};

MAIN
