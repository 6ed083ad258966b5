/* A flag that is raised and taken back: a loop that polls it may miss it for ever. */
#include "outcome.h"

static atomic_int flag;

static void *raise_and_lower(void *unused)
{
    (void)unused;
    atomic_store(&flag, 1);
    atomic_store(&flag, 0);
    return NULL;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, raise_and_lower, NULL);
    while (!atomic_load(&flag))
        ;
    return 0;
}
