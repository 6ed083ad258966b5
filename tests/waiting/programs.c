/* Loops that only wait. Each scenario has a bug, which -DFIXED repairs. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/* The compiler must not know that nobody else writes them. */
atomic_int flag, other, turn, next, serving, ready;
static int data, inside;

/* Nobody else may be in here. */
static void section(void)
{
    inside++;
    assert(inside == 1);
    inside--;
}

#if SCENARIO == 0 /* One thread waits for a flag, which is set too early. */

static void *first(void *unused)
{
#ifndef FIXED
    atomic_store(&flag, 1);
    data = 1;
#else
    data = 1;
    atomic_store(&flag, 1);
#endif
    return unused;
}

static void *second(void *unused)
{
    while (!atomic_load(&flag))
        ;
    assert(data == 1);
    return unused;
}

#elif SCENARIO == 1 /* Two wait for each other in turn, yielding. */

static void *first(void *unused)
{
    atomic_store(&flag, 1);
#ifdef FIXED
    while (!atomic_load(&other))
        sched_yield();
#endif
    assert(data == 2);
    return unused;
}

static void *second(void *unused)
{
    while (!atomic_load(&flag))
        sched_yield();
    data = 2;
    atomic_store(&other, 1);
    return unused;
}

#elif SCENARIO == 2 /* Each waits for what the other does afterwards: found by the query for that,
                       as most interleavings go well. */

static void *first(void *unused)
{
#ifndef FIXED
    if (atomic_load(&ready))
#endif
        atomic_store(&flag, 1);
    return unused;
}

static void *second(void *unused)
{
    atomic_store(&ready, 1);
    while (!atomic_load(&flag))
        ;
    return unused;
}

#elif SCENARIO == 3 /* Peterson's lock; the bug leaves out who gives way. */

static atomic_int *const wants[] = {&flag, &other};

static void *both(int me)
{
    atomic_store(wants[me], 1);
#ifdef FIXED
    atomic_store(&turn, !me);
#endif
    while (atomic_load(wants[!me]) && atomic_load(&turn) == !me)
        ;
    section();
    atomic_store(wants[me], 0);
    return 0;
}

static void *first(void *unused) { return both(unused != 0); }
static void *second(void *unused) { return both(unused == 0); }

#elif SCENARIO == 4 /* A ticket lock; the bug draws a ticket in two steps. */

static void *first(void *unused)
{
#ifdef FIXED
    int mine = atomic_fetch_add(&next, 1);
#else
    int mine = atomic_load(&next);
    atomic_store(&next, mine + 1);
#endif
    while (atomic_load(&serving) != mine)
        ;
    section();
    atomic_fetch_add(&serving, 1);
    return unused;
}

#define second first

#elif SCENARIO == 5 /* A lock by compare-exchange, taken twice; the bug gives it back too early. */

static void *first(void *unused)
{
    for (int i = 0; i < 2; i++) {
        int expected = 0;
        while (!atomic_compare_exchange_strong(&flag, &expected, 1))
            expected = 0;
#ifdef FIXED
        section();
        atomic_store(&flag, 0);
#else
        atomic_store(&flag, 0);
        section();
#endif
    }
    return unused;
}

#define second first

#elif SCENARIO == 6 /* A loop in a loop: look, then exchange. The bug does not exchange. */

static void *first(void *unused)
{
    for (;;) {
#ifdef FIXED
        if (!atomic_exchange(&flag, 1))
            break;
#else
        if (!atomic_load(&flag)) {
            atomic_store(&flag, 1);
            break;
        }
#endif
        while (atomic_load(&flag))
            ;
    }
    section();
    atomic_store(&flag, 0);
    return unused;
}

#define second first

#elif SCENARIO == 7 /* A limited number of attempts: every number of them is a path. */

static void *first(void *unused)
{
    atomic_store(&flag, 1);
    return unused;
}

static void *second(void *unused)
{
    int tries = 0;
    while (tries < 5 && !atomic_load(&flag))
        tries++;
#ifdef FIXED
    assert(tries != 6);
#else
    assert(tries != 4);
#endif
    return unused;
}

#elif SCENARIO == 8 /* A wait that changes memory in its second round, not in its first. */

static void *first(void *unused)
{
    atomic_store(&other, 1);
    return unused;
}

static void *second(void *unused)
{
    /* 0 stays 0, 1 becomes 2, and 2 ends the loop. */
    int found;
    do {
        found = 1;
        atomic_compare_exchange_strong(&other, &found, 2);
    } while (atomic_load(&other) != 2);
#ifdef FIXED
    assert(atomic_load(&other) == 2);
#else
    assert(found != 1);
#endif
    return unused;
}

#elif SCENARIO == 9 /* Two words end the wait, and one is written by nobody. */

static void *first(void *unused)
{
    data = atomic_load(&flag);
    atomic_store(&other, 1);
    return unused;
}

static void *second(void *unused)
{
#ifdef FIXED
    while (!atomic_load(&flag) && !atomic_load(&other))
#else
    while (!atomic_load(&flag) || !atomic_load(&other))
#endif
        ;
    return unused;
}

#elif SCENARIO == 10 /* A lock of 16 bytes. */

static __int128 lock;

static void *first(void *unused)
{
#ifdef FIXED
    while (!__sync_bool_compare_and_swap(&lock, (__int128)0, (__int128)1 << 64))
        ;
#else
    while (__atomic_load_n(&lock, __ATOMIC_ACQUIRE))
        ;
    __atomic_store_n(&lock, (__int128)1 << 64, __ATOMIC_RELAXED);
#endif
    section();
    __atomic_store_n(&lock, (__int128)0, __ATOMIC_RELEASE);
    return unused;
}

static void *second(void *unused)
{
    return first(unused);
}

#elif SCENARIO == 11 /* Rounds that change 16 bytes are not in vain. */

static __int128 count;

static void *first(void *unused)
{
#ifndef FIXED
    __atomic_fetch_add(&count, (__int128)1, __ATOMIC_SEQ_CST);
#endif
    return unused;
}

static void *second(void *unused)
{
    while (__atomic_add_fetch(&count, (__int128)1, __ATOMIC_SEQ_CST) < 3)
        ;
    assert(__atomic_load_n(&count, __ATOMIC_SEQ_CST) == 3);
    return unused;
}

#elif SCENARIO == 12 /* The bug looks once, then goes round without looking, as optimised loops do. */

static void *first(void *unused)
{
    atomic_store(&flag, 1);
    return unused;
}

static void *second(void *unused)
{
#ifdef FIXED
    while (!atomic_load(&flag))
        ;
#else
    if (!atomic_load(&flag)) {
        for (;;)
            ;
    }
#endif
    return unused;
}

#endif

int main(void)
{
    pthread_t one, two;
    pthread_create(&two, 0, second, 0);
    pthread_create(&one, 0, first, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return 0;
}
