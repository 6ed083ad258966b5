/* Peterson's mutual exclusion with its first two lines exchanged: the turn is given away before
 * the interest is shown. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static _Atomic int interested[2], turn, inside;

static void *enter(void *number)
{
    int me = (int)(long)number, other = 1 - me;
#ifdef FIXED
    atomic_store(&interested[me], 1);
    atomic_store(&turn, other);
#else
    atomic_store(&turn, other);
    atomic_store(&interested[me], 1);
#endif
    while (atomic_load(&interested[other]) && atomic_load(&turn) == other)
        sched_yield();
    assert(atomic_fetch_add(&inside, 1) == 0);
    atomic_fetch_sub(&inside, 1);
    atomic_store(&interested[me], 0);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, enter, (void *)0L);
    pthread_create(&b, 0, enter, (void *)1L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
