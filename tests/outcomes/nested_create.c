/* A child creates a grandchild. Each of the three leaves its number and takes that of the one
 * before. */
#include "outcome.h"

static _Atomic int last;
static volatile int before_child;

static void *grandchild(void *unused)
{
    atomic_exchange(&last, 3);
    return unused;
}

static void *child(void *unused)
{
    pthread_t t;
    pthread_create(&t, NULL, grandchild, NULL);
    before_child = atomic_exchange(&last, 2);
    pthread_join(t, NULL);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, child, NULL);
    int before_main = atomic_exchange(&last, 1);
    pthread_join(t, NULL);
    return before_main * 10 + before_child;
}
