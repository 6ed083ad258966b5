/* Something is done once, by whoever comes first; the other one waits for it. */
#include "outcome.h"

static pthread_once_t control = PTHREAD_ONCE_INIT;
static volatile int made, who;
static __thread int name;

static void make(void)
{
    made = made + 1;
    who = name;
}

static void *first(void *unused)
{
    name = 1;
    pthread_once(&control, make);
    return unused;
}

static void *second(void *unused)
{
    name = 2;
    pthread_once(&control, make);
    return unused;
}

int main(void)
{
    run2(first, second);
    return made * 10 + who;
}
