/* The Bluetooth driver of the literature: the adder looks at the stopping flag before it counts
 * itself in, so that the driver may stop between the two and the adder works on a stopped one. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int pending = 1, stopping, stop_event, stopped;

static void leave(void)
{
    if (atomic_fetch_sub(&pending, 1) == 1)
        atomic_store(&stop_event, 1);
}

static void *adder(void *unused)
{
#ifdef FIXED
    atomic_fetch_add(&pending, 1);
    if (!atomic_load(&stopping))
        assert(!atomic_load(&stopped));
    leave();
#else
    if (atomic_load(&stopping))
        return unused;
    atomic_fetch_add(&pending, 1);
    assert(!atomic_load(&stopped));
    leave();
#endif
    return unused;
}

static void *stopper(void *unused)
{
    atomic_store(&stopping, 1);
    leave();
    if (atomic_load(&stop_event))
        atomic_store(&stopped, 1);
    return unused;
}

int main(void)
{
    pthread_t a, s;
    pthread_create(&a, 0, adder, 0);
    pthread_create(&s, 0, stopper, 0);
    pthread_join(a, 0);
    pthread_join(s, 0);
    return 0;
}
