/* Futexes: by the C library's `syscall`, or (-DRAW) by inline assembly. */
#define _GNU_SOURCE
#include "calls.h"
#include <linux/futex.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

/* A negative errno, or what the call returns. */
static long call(long number, long a, long b, long c, long d, long e, long f)
{
#ifdef RAW
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
#else
    long result = syscall(number, a, b, c, d, e, f);
    return result == -1 ? -errno : result;
#endif
}

static long futex(atomic_uint *word, int op, long value, long more, atomic_uint *other, long last)
{
    return call(SYS_futex, (long)word, op, value, more, (long)other, last);
}

static atomic_uint one, two;
static atomic_int how;

/* A lock with an owner, and a limit of time: 0 got it, else the error. */
static void *owns(void *unused)
{
    check(!futex(&one, FUTEX_LOCK_PI, 0, 0, 0, 0));
    sched_yield();
    check(!futex(&one, FUTEX_UNLOCK_PI, 0, 0, 0, 0));
    return unused;
}

static int lock_pi_timed(void)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec++;
    pthread_t t = start(owns, 0);
    long result = futex(&one, FUTEX_LOCK_PI, 0, (long)&limit, 0, 0);
    check(!result || result == -ETIMEDOUT);
    if (!result) {
        check(futex(&one, FUTEX_LOCK_PI, 0, 0, 0, 0) == -EDEADLK);
        check(!futex(&one, FUTEX_UNLOCK_PI, 0, 0, 0, 0));
    } else
        check(futex(&one, FUTEX_UNLOCK_PI, 0, 0, 0, 0) == -EPERM);
    pthread_join(t, 0);
    check(one == 0);
    return result != 0;
}

static int trylock_pi(void)
{
    pthread_t t = start(owns, 0);
    long result = futex(&one, FUTEX_TRYLOCK_PI, 0, 0, 0, 0);
    check(!result || result == -EAGAIN || result == -EBUSY || result == -EWOULDBLOCK);
    if (!result)
        check(!futex(&one, FUTEX_UNLOCK_PI, 0, 0, 0, 0));
    pthread_join(t, 0);
    return result != 0;
}

/* A wait at two words: which one woke it; 2: it had changed before. */
static void *wakes_second(void *unused)
{
    two = 1;
    futex(&two, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
    return unused;
}

struct word { uint64_t value, address; uint32_t flags, reserved; };

static int wait_for_two(void)
{
    struct word words[2] = {{0, (uintptr_t)&one, 2 | 128, 0}, {0, (uintptr_t)&two, 2 | 128, 0}};
    pthread_t t = start(wakes_second, 0);
    long result = call(449, (long)words, 2, 0, 0, 0, 0);
    pthread_join(t, 0);
    return result == -EAGAIN ? 2 : (int)result;
}

/* One call changes a word and wakes at two: a sleeper at each. */
static void *sleeps(void *which)
{
    atomic_uint *word = which ? &two : &one;
    while (*word == 0)
        futex(word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    return 0;
}

static int wake_op(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, sleeps, 0);
    pthread_create(&b, 0, sleeps, &two);
    one = 1;
    /* two |= 4; wake at two if it was 0 */
    long woken = futex(&one, FUTEX_WAKE_OP_PRIVATE, 1, 1, &two,
                       FUTEX_OP(FUTEX_OP_OR, 4, FUTEX_OP_CMP_EQ, 0));
    check(two == 4);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return (int)woken;
}

/* Two sleepers; one is woken, the other moved to another word, and woken there. */
static void *sleeps_at_one(void *unused)
{
    long result = futex(&one, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
    check(result == 0 || result == -EAGAIN);
    return unused;
}

static int requeue(void)
{
    pthread_t a = start(sleeps_at_one, 0), b = start(sleeps_at_one, 0);
    sched_yield();
    one = 1;
    check(futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1, &two, 0) == -EAGAIN);
    long moved = futex(&one, FUTEX_CMP_REQUEUE_PRIVATE, 1, 1, &two, 1);
    long woken = futex(&two, FUTEX_WAKE_PRIVATE, 9, 0, 0, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    check(moved == (woken ? 2 : moved) && woken <= 1);
    return (int)(moved * 10 + woken);
}

/* A bit that nobody asks for does not wake. */
static void *sleeps_for_bit(void *unused)
{
    long result = futex(&one, FUTEX_WAIT_BITSET_PRIVATE, 0, 0, 0, 2);
    how = result == 0 ? 1 : 2;
    return unused;
}

static int bits(void)
{
    pthread_t t = start(sleeps_for_bit, 0);
    long wrong = futex(&one, FUTEX_WAKE_BITSET_PRIVATE, 1, 0, 0, 4);
    check(wrong == 0);
    one = 1;
    futex(&one, FUTEX_WAKE_BITSET_PRIVATE, 1, 0, 0, 6);
    pthread_join(t, 0);
    return how;
}

/* A mutex that inherits priorities. */
static pthread_mutex_t guarded;
static int seen;

static void *tries(void *unused)
{
    if (!pthread_mutex_trylock(&guarded)) {
        seen = 1;
        pthread_mutex_unlock(&guarded);
    }
    return unused;
}

static int inherit_mutex(void)
{
    pthread_mutexattr_t attr;
    int protocol = -1;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutexattr_getprotocol(&attr, &protocol);
    check(protocol == PTHREAD_PRIO_INHERIT && !pthread_mutex_init(&guarded, &attr));
    pthread_t t = start(tries, 0);
    check(!pthread_mutex_lock(&guarded) && pthread_mutex_lock(&guarded) == EDEADLK);
    check(!pthread_mutex_unlock(&guarded));
    pthread_join(t, 0);
    check(!pthread_mutex_destroy(&guarded));
    return seen;
}

static const struct mode modes[] = {
    MODE(lock_pi_timed), MODE(trylock_pi), MODE(wait_for_two), MODE(wake_op), MODE(requeue),
    MODE(bits), MODE(inherit_mutex),
};

MAIN
