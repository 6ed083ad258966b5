/* Locks and barriers made of atomics and futexes, each around a plain counter. */
#define _GNU_SOURCE
#include "correct.h"
#include <linux/futex.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter;

static void futex_wait(atomic_int *word, int value) {
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
}
static void futex_wake(atomic_int *word, int count) {
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

/* Each case: two or three threads add 1 with the lock held. */
#define COUNTED(name, threads, lock, unlock)                                                       \
    static void *name##_body(void *arg) {                                                          \
        long me = (long)arg;                                                                       \
        (void)me;                                                                                  \
        lock;                                                                                      \
        counter++;                                                                                 \
        unlock;                                                                                    \
        return NULL;                                                                               \
    }                                                                                              \
    static void name(void) {                                                                       \
        in_threads(threads, name##_body);                                                          \
        assert(counter == threads);                                                                \
    }

static atomic_int word;

static void tas_lock(void) {
    while (atomic_exchange_explicit(&word, 1, memory_order_acquire))
        ;
}
static void tas_unlock(void) { atomic_store_explicit(&word, 0, memory_order_release); }
COUNTED(test_and_set, 3, tas_lock(), tas_unlock())

static void ttas_lock(void) {
    do
        while (atomic_load_explicit(&word, memory_order_relaxed))
            ;
    while (atomic_exchange_explicit(&word, 1, memory_order_acquire));
}
COUNTED(test_and_test_and_set, 3, ttas_lock(), tas_unlock())

static void cas_lock(void) {
    int expected = 0;
    while (!atomic_compare_exchange_weak_explicit(&word, &expected, 1, memory_order_acquire,
                                                  memory_order_relaxed))
        expected = 0;
}
COUNTED(compare_exchange, 3, cas_lock(), tas_unlock())

static atomic_flag flag = ATOMIC_FLAG_INIT;
COUNTED(
    flag_lock, 2, while (atomic_flag_test_and_set(&flag)), atomic_flag_clear(&flag))

static atomic_uint next_ticket, now_serving;
static void ticket_lock(void) {
    unsigned mine = atomic_fetch_add_explicit(&next_ticket, 1, memory_order_relaxed);
    while (atomic_load_explicit(&now_serving, memory_order_acquire) != mine)
        ;
}
static void ticket_unlock(void) {
    unsigned now = atomic_load_explicit(&now_serving, memory_order_relaxed);
    atomic_store_explicit(&now_serving, now + 1, memory_order_release);
}
COUNTED(ticket, 3, ticket_lock(), ticket_unlock())

/* Mellor-Crummey and Scott's queue lock. */
struct mcs {
    _Atomic(struct mcs *) next;
    atomic_bool locked;
};
static _Atomic(struct mcs *) mcs_tail;
static struct mcs mcs_nodes[MOST_THREADS];
static void mcs_lock(struct mcs *me) {
    atomic_store_explicit(&me->next, NULL, memory_order_relaxed);
    atomic_store_explicit(&me->locked, true, memory_order_relaxed);
    struct mcs *before = atomic_exchange_explicit(&mcs_tail, me, memory_order_acq_rel);
    if (!before)
        return;
    atomic_store_explicit(&before->next, me, memory_order_release);
    while (atomic_load_explicit(&me->locked, memory_order_acquire))
        ;
}
static void mcs_unlock(struct mcs *me) {
    struct mcs *next = atomic_load_explicit(&me->next, memory_order_acquire);
    if (!next) {
        struct mcs *expected = me;
        if (atomic_compare_exchange_strong_explicit(&mcs_tail, &expected, NULL,
                                                    memory_order_acq_rel, memory_order_relaxed))
            return;
        while (!(next = atomic_load_explicit(&me->next, memory_order_acquire)))
            ;
    }
    atomic_store_explicit(&next->locked, false, memory_order_release);
}
COUNTED(mcs_queue, 3, mcs_lock(&mcs_nodes[me]), mcs_unlock(&mcs_nodes[me]))

/* Craig, Landin and Hagersten's queue lock. */
static atomic_bool clh_nodes[MOST_THREADS + 1];
static _Atomic(atomic_bool *) clh_tail = &clh_nodes[MOST_THREADS];
static void clh_lock(long me) {
    atomic_store(&clh_nodes[me], true);
    atomic_bool *before = atomic_exchange(&clh_tail, &clh_nodes[me]);
    while (atomic_load(before))
        ;
}
COUNTED(clh_queue, 3, clh_lock(me), atomic_store(&clh_nodes[me], false))

/* Anderson's array lock. */
static atomic_bool anderson_slots[MOST_THREADS] = {true};
static atomic_uint anderson_next;
static unsigned anderson_lock(void) {
    unsigned mine = atomic_fetch_add(&anderson_next, 1) % MOST_THREADS;
    while (!atomic_load(&anderson_slots[mine]))
        ;
    atomic_store(&anderson_slots[mine], false);
    return mine;
}
COUNTED(
    anderson_array, 3, unsigned mine = anderson_lock(),
    atomic_store(&anderson_slots[(mine + 1) % MOST_THREADS], true))

static atomic_bool interested[2];
static atomic_long turn;
static void peterson_lock(long me) {
    atomic_store(&interested[me], true);
    atomic_store(&turn, 1 - me);
    while (atomic_load(&interested[1 - me]) && atomic_load(&turn) == 1 - me)
        ;
}
COUNTED(peterson, 2, peterson_lock(me), atomic_store(&interested[me], false))

static void dekker_lock(long me) {
    atomic_store(&interested[me], true);
    while (atomic_load(&interested[1 - me])) {
        if (atomic_load(&turn) == me)
            continue;
        atomic_store(&interested[me], false);
        while (atomic_load(&turn) != me)
            ;
        atomic_store(&interested[me], true);
    }
}
static void dekker_unlock(long me) {
    atomic_store(&turn, 1 - me);
    atomic_store(&interested[me], false);
}
COUNTED(dekker, 2, dekker_lock(me), dekker_unlock(me))

/* Lamport's bakery. */
static atomic_bool choosing[2];
static atomic_int number[2];
static void bakery_lock(long me) {
    long other = 1 - me;
    atomic_store(&choosing[me], true);
    atomic_store(&number[me], atomic_load(&number[other]) + 1);
    atomic_store(&choosing[me], false);
    while (atomic_load(&choosing[other]))
        ;
    for (;;) {
        int its = atomic_load(&number[other]), mine = atomic_load(&number[me]);
        if (its == 0 || its > mine || (its == mine && other > me))
            break;
    }
}
COUNTED(bakery, 2, bakery_lock(me), atomic_store(&number[me], 0))

/* Drepper's mutexes 2 and 3 ("Futexes are tricky"). */
static void drepper2_lock(void) {
    int c = 0;
    if (atomic_compare_exchange_strong(&word, &c, 1))
        return;
    do {
        int one = 1;
        if (c == 2 || atomic_compare_exchange_strong(&word, &one, 2) || one != 0)
            futex_wait(&word, 2);
        c = 0;
    } while (!atomic_compare_exchange_strong(&word, &c, 2));
}
static void drepper2_unlock(void) {
    if (atomic_fetch_sub(&word, 1) != 1) {
        atomic_store(&word, 0);
        futex_wake(&word, 1);
    }
}
COUNTED(futex_mutex, 3, drepper2_lock(), drepper2_unlock())

static void drepper3_lock(void) {
    int c = 0;
    if (atomic_compare_exchange_strong(&word, &c, 1))
        return;
    if (c != 2)
        c = atomic_exchange(&word, 2);
    while (c != 0) {
        futex_wait(&word, 2);
        c = atomic_exchange(&word, 2);
    }
}
COUNTED(futex_mutex_by_exchange, 3, drepper3_lock(), drepper2_unlock())

/* Futexes with priority inheritance, whose word holds the owner: the kernel is asked where others
   are in the way, always, or for as long as it says that somebody else has the word. */
static long pi(int command) { return syscall(SYS_futex, &word, command, 0, NULL, NULL, 0); }
static void pi_lock(void) {
    int nobody = 0;
    if (!atomic_compare_exchange_strong(&word, &nobody, (int)syscall(SYS_gettid)))
        assert(pi(FUTEX_LOCK_PI_PRIVATE) == 0);
}
static void pi_unlock(void) {
    int me = (int)syscall(SYS_gettid);
    if (!atomic_compare_exchange_strong(&word, &me, 0))
        assert(pi(FUTEX_UNLOCK_PI_PRIVATE) == 0);
}
static void pi_try_lock(void) {
    if (pi(FUTEX_TRYLOCK_PI_PRIVATE))
        pi_lock();
}
COUNTED(pi_futex, 3, pi_lock(), pi_unlock())
COUNTED(pi_futex_of_the_kernel, 2, pi(FUTEX_LOCK_PI_PRIVATE), pi(FUTEX_UNLOCK_PI_PRIVATE))
COUNTED(pi_futex_by_attempts, 2, pi_try_lock(), pi_unlock())

/* Spins a little, then sleeps. */
static void adaptive_lock(void) {
    for (int i = 0; i < 2; i++) {
        int c = 0;
        if (atomic_compare_exchange_strong(&word, &c, 1))
            return;
    }
    while (atomic_exchange(&word, 2))
        futex_wait(&word, 2);
}
COUNTED(adaptive_mutex, 2, adaptive_lock(), drepper2_unlock())

/* A read-write lock in one word: readers, and a bit for the writer. */
#define WRITER (1 << 30)
static atomic_int readers_and_writer;
static int pair[2];
static void *word_writer(void *arg) {
    (void)arg;
    int none = 0;
    while (!atomic_compare_exchange_weak(&readers_and_writer, &none, WRITER))
        none = 0;
    pair[0]++;
    pair[1]++;
    atomic_fetch_sub(&readers_and_writer, WRITER);
    return NULL;
}
static void *word_reader(void *arg) {
    (void)arg;
    while (atomic_fetch_add(&readers_and_writer, 1) >= WRITER) {
        atomic_fetch_sub(&readers_and_writer, 1);
        while (atomic_load(&readers_and_writer) >= WRITER)
            ;
    }
    assert(pair[0] == pair[1]);
    atomic_fetch_sub(&readers_and_writer, 1);
    return NULL;
}
static void read_write_word(void) { in_two(word_writer, word_reader); }

/* Sequence lock: data in relaxed atomics, as C11 wants it. */
static atomic_uint sequence;
static atomic_int data[2];
static void *sequence_writer(void *arg) {
    (void)arg;
    unsigned seen = atomic_load_explicit(&sequence, memory_order_relaxed);
    atomic_store_explicit(&sequence, seen + 1, memory_order_relaxed);
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&data[0], 5, memory_order_relaxed);
    atomic_store_explicit(&data[1], 5, memory_order_relaxed);
    atomic_store_explicit(&sequence, seen + 2, memory_order_release);
    return NULL;
}
static void *sequence_reader(void *arg) {
    (void)arg;
    for (;;) {
        unsigned before = atomic_load_explicit(&sequence, memory_order_acquire);
        if (before & 1)
            continue;
        int a = atomic_load_explicit(&data[0], memory_order_relaxed);
        int b = atomic_load_explicit(&data[1], memory_order_relaxed);
        atomic_thread_fence(memory_order_acquire);
        if (atomic_load_explicit(&sequence, memory_order_relaxed) != before)
            continue;
        assert(a == b);
        return NULL;
    }
}
static void sequence_lock(void) { in_two(sequence_writer, sequence_reader); }

/* A barrier whose sense turns with each round. */
static atomic_int arrived;
static atomic_bool sense;
static int shares[3];
static void sense_wait(bool *mine, int count) {
    *mine = !*mine;
    if (atomic_fetch_add(&arrived, 1) == count - 1) {
        atomic_store(&arrived, 0);
        atomic_store(&sense, *mine);
    } else
        while (atomic_load(&sense) != *mine)
            ;
}
static void *sense_body(void *arg) {
    long me = (long)arg;
    bool mine = false;
    shares[me] = 1;
    sense_wait(&mine, 2);
    assert(shares[1 - me] == 1);
    sense_wait(&mine, 2);
    shares[me] = 2;
    return NULL;
}
static void sense_barrier(void) { in_threads(2, sense_body); }

/* A dissemination barrier of three. */
static atomic_bool told[3][2];
static void *dissemination_body(void *arg) {
    long me = (long)arg;
    shares[me] = 1;
    for (int round = 0; round < 2; round++) {
        atomic_store_explicit(&told[(me + (1 << round)) % 3][round], true, memory_order_release);
        while (!atomic_load_explicit(&told[me][round], memory_order_acquire))
            ;
    }
    assert(shares[0] + shares[1] + shares[2] == 3);
    return NULL;
}
static void dissemination_barrier(void) { in_threads(3, dissemination_body); }

/* A barrier by a futex and a generation. */
static atomic_int waiting, generation;
static void *futex_barrier_body(void *arg) {
    long me = (long)arg;
    shares[me] = 1;
    int mine = atomic_load(&generation);
    if (atomic_fetch_add(&waiting, 1) == 1) {
        atomic_store(&waiting, 0);
        atomic_fetch_add(&generation, 1);
        futex_wake(&generation, 1 << 30);
    } else
        while (atomic_load(&generation) == mine)
            futex_wait(&generation, mine);
    assert(shares[1 - me] == 1);
    return NULL;
}
static void futex_barrier(void) { in_threads(2, futex_barrier_body); }

/* An event count: the waiter reads the epoch before it looks. */
static atomic_int epoch;
static atomic_bool posted;
static int letter;
static void *event_poster(void *arg) {
    (void)arg;
    letter = 7;
    atomic_store_explicit(&posted, true, memory_order_release);
    atomic_fetch_add(&epoch, 1);
    futex_wake(&epoch, 1 << 30);
    return NULL;
}
static void *event_waiter(void *arg) {
    (void)arg;
    for (;;) {
        int before = atomic_load(&epoch);
        if (atomic_load_explicit(&posted, memory_order_acquire))
            break;
        futex_wait(&epoch, before);
    }
    assert(letter == 7);
    return NULL;
}
static void event_count(void) { in_two(event_poster, event_waiter); }

/* A semaphore by a futex. */
static atomic_int permits = 1;
static void permit_take(void) {
    for (;;) {
        int have = atomic_load(&permits);
        if (have > 0) {
            if (atomic_compare_exchange_strong(&permits, &have, have - 1))
                return;
        } else
            futex_wait(&permits, 0);
    }
}
static void permit_give(void) {
    atomic_fetch_add(&permits, 1);
    futex_wake(&permits, 1);
}
COUNTED(futex_semaphore, 2, permit_take(), permit_give())

#define ROW(name) {#name, name}
CASES(ROW(test_and_set), ROW(test_and_test_and_set), ROW(compare_exchange), ROW(flag_lock),
      ROW(ticket), ROW(mcs_queue), ROW(clh_queue), ROW(anderson_array), ROW(peterson), ROW(dekker),
      ROW(bakery), ROW(futex_mutex), ROW(futex_mutex_by_exchange), ROW(adaptive_mutex),
      ROW(pi_futex), ROW(pi_futex_of_the_kernel), ROW(pi_futex_by_attempts),
      ROW(read_write_word), ROW(sequence_lock), ROW(sense_barrier), ROW(dissemination_barrier),
      ROW(futex_barrier), ROW(event_count), ROW(futex_semaphore))
