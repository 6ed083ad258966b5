/* A loop that polls two words; whichever changes first ends it. */
#include "outcome.h"

static atomic_int x, y;

static void *set(void *unused)
{
    (void)unused;
    atomic_store(&x, 1);
    atomic_store(&y, 2);
    return NULL;
}

int main(void)
{
    pthread_t t;
    int seen;
    pthread_create(&t, NULL, set, NULL);
    do
        seen = atomic_load(&y) + atomic_load(&x);
    while (!seen);
    pthread_join(t, NULL);
    return seen;
}
