/* A thread that waits in a loop is cancelled asynchronously, or ends before. */
#include "outcome.h"
#include <stdatomic.h>

static atomic_int go;

static void *waits(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    while (!atomic_load(&go))
        ;
    return unused;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, waits, NULL);
    atomic_store(&go, 1);
    pthread_cancel(t);
    pthread_join(t, &result);
    return 1 + (result == PTHREAD_CANCELED);
}
