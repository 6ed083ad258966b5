/* Two locks of futexes with priority inheritance, taken in different orders. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_uint first, second;

static void lock(atomic_uint *word)
{
    unsigned none = 0;
    if (!atomic_compare_exchange_strong(word, &none, (unsigned)gettid()))
        syscall(SYS_futex, word, FUTEX_LOCK_PI_PRIVATE, 0, 0, 0, 0);
}

static void unlock(atomic_uint *word)
{
    unsigned own = (unsigned)gettid();
    if (!atomic_compare_exchange_strong(word, &own, 0))
        syscall(SYS_futex, word, FUTEX_UNLOCK_PI_PRIVATE, 0, 0, 0, 0);
}

static void *work(void *turned)
{
    atomic_uint *a = turned ? &second : &first, *b = turned ? &first : &second;
    lock(a);
    sched_yield();
    lock(b);
    unlock(b);
    unlock(a);
    return 0;
}

int main(void)
{
    pthread_t t[2];
#ifdef FIXED
    void *turned = 0;
#else
    void *turned = t;
#endif
    pthread_create(&t[0], 0, work, 0);
    pthread_create(&t[1], 0, work, turned);
    pthread_join(t[0], 0);
    pthread_join(t[1], 0);
    return first | second;
}
