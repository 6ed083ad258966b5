/* Words that threads wait at. HOW: a mutex whose third state says that somebody waits (0), an event that
 * two threads wait for (1), a permit that is given away (2), a wait with a time limit
 * (3), a wake whose result is used, which is named (4). With -DBUGGY the mutex forgets who waits, the event
 * wakes one thread only, who gives a permit does not look whether somebody waits for it, who
 * has waited in vain goes on. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OTHERS (HOW == 0 || HOW == 2 ? 1 : 2)

static atomic_int word;
static int count;

static int wait_while(int value, const struct timespec *limit)
{
    return syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, limit, NULL, 0) == 0 ? 0 : errno;
}

static void wake(int most)
{
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

#if HOW == 0
static void lock(void)
{
    int found = 0;
    if (atomic_compare_exchange_strong(&word, &found, 1))
        return;
#ifndef BUGGY
    if (found != 2)
        found = atomic_exchange(&word, 2);
    while (found != 0) {
        wait_while(2, NULL);
        found = atomic_exchange(&word, 2);
    }
#else
    while (atomic_exchange(&word, 1) != 0)
        wait_while(1, NULL);
#endif
}

static void unlock(void)
{
    if (atomic_exchange(&word, 0) == 2)
        wake(1);
}

static void *work(void *unused)
{
    lock();
    int old = count;
    count = old + 1;
    unlock();
    return unused;
}

static void first(void)
{
    work(NULL);
}
#elif HOW == 1
static void *work(void *unused)
{
    while (atomic_load(&word) == 0)
        wait_while(0, NULL);
    assert(count == 2);
    return unused;
}

static void first(void)
{
    count = 2;
    atomic_store(&word, 1);
#ifdef BUGGY
    wake(1);
#else
    wake(2);
#endif
}
#elif HOW == 2
static atomic_int waiting;

static void *work(void *unused)
{
    for (;;) {
        int permits = atomic_load(&word);
        if (permits > 0) {
            if (atomic_compare_exchange_strong(&word, &permits, permits - 1))
                return unused;
            continue;
        }
        atomic_fetch_add(&waiting, 1);
        wait_while(0, NULL);
        atomic_fetch_sub(&waiting, 1);
    }
}

static void first(void)
{
    count = 2;
#ifdef BUGGY
    int some = atomic_load(&waiting);
    atomic_fetch_add(&word, 1);
#else
    atomic_fetch_add(&word, 1);
    int some = atomic_load(&waiting);
#endif
    if (some > 0)
        wake(1);
}
#elif HOW == 3
static void *work(void *unused)
{
    struct timespec limit = {1, 0};
    int found = wait_while(0, &limit);
    assert(found == 0 || found == EAGAIN || found == ETIMEDOUT);
#ifndef BUGGY
    if (found == ETIMEDOUT)
        return unused;
#endif
    assert(atomic_load(&word) == 1);
    return unused;
}

static void first(void)
{
    count = 2;
    atomic_store(&word, 1);
    wake(2);
}
#else
static void *work(void *unused)
{
    wait_while(0, NULL);
    return unused;
}

static void first(void)
{
    count = 2;
    atomic_store(&word, 1);
    long woken = syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 2, NULL, NULL, 0);
    assert(woken >= 0 && woken <= 2);
}
#endif

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < OTHERS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    first();
    for (int i = 0; i < OTHERS; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
}
