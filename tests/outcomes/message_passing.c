/* Message passing: who sees the flag sees the data. */
#include "outcome.h"

static volatile int data, flag, seen_flag, seen_data;

static void *sender(void *unused)
{
    data = 1;
    flag = 1;
    return unused;
}

static void *receiver(void *unused)
{
    seen_flag = flag;
    seen_data = data;
    return unused;
}

int main(void)
{
    run2(sender, receiver);
    return seen_flag * 10 + seen_data;
}
