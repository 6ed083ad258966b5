/* A hand-made spin lock that tests and sets in two steps. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static _Atomic int held, inside;

static void acquire(void)
{
#ifdef FIXED
    while (atomic_exchange(&held, 1))
        sched_yield();
#else
    while (atomic_load(&held))
        sched_yield();
    atomic_store(&held, 1);
#endif
}

static void *enter(void *unused)
{
    acquire();
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&held, 0);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, enter, 0);
    pthread_create(&b, 0, enter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
