/* A thread waits in a loop for a spinlock while another one writes to a flag on its stack, which it
   reads only later. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int held;
static atomic_int *waiter;

static void lock(void)
{
    for (;;) {
        int none = 0;
        if (atomic_load(&held) == 0 && atomic_compare_exchange_strong(&held, &none, 1))
            return;
        sched_yield();
    }
}

static void unlock(void)
{
    atomic_store(&held, 0);
}

static void *wait_unless_alone(void *unused)
{
    atomic_int told;
    atomic_init(&told, 0);
    lock();
    waiter = &told;
    unlock();
    lock();
    int alone = waiter == &told;
    waiter = NULL;
    unlock();
    while (!alone && !atomic_load(&told))
        sched_yield();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, wait_unless_alone, 0);
    lock();
    atomic_int *other = waiter;
    waiter = NULL;
    unlock();
    if (other)
        atomic_store(other, 1);
    pthread_join(thread, 0);
    return 0;
}
