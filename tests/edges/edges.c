// One row for each way in which C, POSIX and Linux order two threads: what the first does before
// `release` happens before what the second does after `acquire`. The first argument names the row.
// With a second argument the first thread writes after its release instead, so nothing orders the two
// accesses: a race.
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int data, is_late, joined;
static _Thread_local int is_first;
static pthread_t first, second;

// The accesses that are in order, or race.
static void give(void) { data = 1; }
static void take(void) {
    volatile int seen = data;
    (void)seen;
}

static struct timespec in(clockid_t clock, int seconds) {
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += seconds;
    return at;
}

#define MUTEX(name, kind)                                                                          \
    static pthread_mutex_t name;                                                                   \
    static int name##_given;                                                                       \
    static void name##_setup(void) {                                                               \
        pthread_mutexattr_t attributes;                                                            \
        pthread_mutexattr_init(&attributes);                                                       \
        kind;                                                                                      \
        pthread_mutex_init(&name, &attributes);                                                    \
    }                                                                                              \
    static void name##_release(void) {                                                             \
        pthread_mutex_lock(&name);                                                                 \
        name##_given = 1;                                                                          \
        pthread_mutex_unlock(&name);                                                               \
    }
#define FLAGGED(name, lock, unlock)                                                                \
    int given = 0;                                                                                 \
    if (lock)                                                                                      \
        return 0;                                                                                  \
    given = name##_given;                                                                          \
    unlock;                                                                                        \
    return given;

MUTEX(plain, (void)0)
static int plain_acquire(void) { FLAGGED(plain, pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain)) }
static int plain_try(void) { FLAGGED(plain, pthread_mutex_trylock(&plain), pthread_mutex_unlock(&plain)) }
static int plain_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    FLAGGED(plain, pthread_mutex_timedlock(&plain, &at), pthread_mutex_unlock(&plain))
}
static int plain_clock(void) {
    struct timespec at = in(CLOCK_MONOTONIC, 1);
    FLAGGED(plain, pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &at), pthread_mutex_unlock(&plain))
}
MUTEX(recursive, pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE))
static int recursive_acquire(void) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    int given = recursive_given;
    pthread_mutex_unlock(&recursive);
    return given;
}
MUTEX(checking, pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK))
static int checking_acquire(void) { FLAGGED(checking, pthread_mutex_lock(&checking), pthread_mutex_unlock(&checking)) }
MUTEX(adaptive, pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP))
static int adaptive_acquire(void) { FLAGGED(adaptive, pthread_mutex_lock(&adaptive), pthread_mutex_unlock(&adaptive)) }
MUTEX(inheriting, pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT))
static int inheriting_acquire(void) { FLAGGED(inheriting, pthread_mutex_lock(&inheriting), pthread_mutex_unlock(&inheriting)) }

// A robust mutex whose owner ends with it.
MUTEX(robust, pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST))
static void robust_dies(void) { pthread_mutex_lock(&robust); }
static int inherit(int result) {
    if (result != EOWNERDEAD) {
        if (result == 0)
            pthread_mutex_unlock(&robust);
        return 0;
    }
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    return 1;
}
static int robust_acquire(void) { return inherit(pthread_mutex_lock(&robust)); }
static int robust_try(void) { return inherit(pthread_mutex_trylock(&robust)); }
static int robust_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    return inherit(pthread_mutex_timedlock(&robust, &at));
}
static int robust_unlocks(void) { FLAGGED(robust, pthread_mutex_lock(&robust), pthread_mutex_unlock(&robust)) }
// The owner dies while it waits for a condition's mutex, and the waiter inherits.
static pthread_cond_t robust_changed = PTHREAD_COND_INITIALIZER;
static void robust_signals(void) {
    pthread_mutex_lock(&robust);
    robust_given = 1;
    pthread_cond_signal(&robust_changed);
}
static int robust_waits(void) {
    int result = pthread_mutex_lock(&robust);
    if (result == 0) {
        while (result == 0 && !robust_given)
            result = pthread_cond_wait(&robust_changed, &robust);
    }
    return inherit(result);
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int rw_given;
static void rw_release(void) {
    pthread_rwlock_wrlock(&rw);
    rw_given = 1;
    pthread_rwlock_unlock(&rw);
}
static int rw_read(void) {
    pthread_rwlock_rdlock(&rw);
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}
static int rw_try_read(void) {
    if (pthread_rwlock_tryrdlock(&rw))
        return 0;
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}
static int rw_timed_read(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    if (pthread_rwlock_timedrdlock(&rw, &at))
        return 0;
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}
static int rw_write(void) {
    pthread_rwlock_wrlock(&rw);
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}

static pthread_spinlock_t spin;
static int spin_given;
static void spin_setup(void) { pthread_spin_init(&spin, 0); }
static void spin_release(void) {
    pthread_spin_lock(&spin);
    spin_given = 1;
    pthread_spin_unlock(&spin);
}
static int spin_acquire(void) {
    pthread_spin_lock(&spin);
    int given = spin_given;
    pthread_spin_unlock(&spin);
    return given;
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void cond_release(void) {
    pthread_mutex_lock(&plain);
    plain_given = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&plain);
}
static int cond_acquire(void) {
    pthread_mutex_lock(&plain);
    while (!plain_given)
        pthread_cond_wait(&changed, &plain);
    pthread_mutex_unlock(&plain);
    return 1;
}
static int cond_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    pthread_mutex_lock(&plain);
    while (!plain_given && pthread_cond_timedwait(&changed, &plain, &at) == 0) {
    }
    int given = plain_given;
    pthread_mutex_unlock(&plain);
    return given;
}

static sem_t semaphore, *named;
static void sem_setup(void) { sem_init(&semaphore, 0, 0); }
static void sem_release(void) { sem_post(&semaphore); }
static int sem_acquire(void) { return sem_wait(&semaphore) == 0; }
static int sem_try(void) { return sem_trywait(&semaphore) == 0; }
static int sem_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    return sem_timedwait(&semaphore, &at) == 0;
}
static void named_setup(void) { named = sem_open("/raddle-edges", O_CREAT, 0600, 0); }
static void named_release(void) { sem_post(named); }
static int named_acquire(void) { return sem_wait(named) == 0; }

static pthread_barrier_t barrier;
static void barrier_setup(void) { pthread_barrier_init(&barrier, NULL, 2); }
static void barrier_release(void) { pthread_barrier_wait(&barrier); }
static int barrier_acquire(void) {
    pthread_barrier_wait(&barrier);
    return 1;
}

// The first to come runs the routine; who comes later finds that it has returned.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_by_first;
static void once_routine(void) {
    if (is_first) {
        once_by_first = 1;
        if (!is_late)
            give();
    }
}
static void once_release(void) { pthread_once(&once, once_routine); }
static int once_acquire(void) {
    pthread_once(&once, once_routine);
    return once_by_first;
}
// As libraries inline it: the control says that the routine has returned.
static int once_inlined(void) {
    if (atomic_load_explicit((_Atomic int *)&once, memory_order_acquire) != 2)
        return 0;
    return once_by_first;
}
static once_flag flag = ONCE_FLAG_INIT;
static void flag_release(void) { call_once(&flag, once_routine); }
static int flag_acquire(void) {
    call_once(&flag, once_routine);
    return once_by_first;
}

static void nothing(void) {}
static int joins(void) { return joined = pthread_join(first, NULL) == 0; }
static int joins_try(void) { return joined = pthread_tryjoin_np(first, NULL) == 0; }
static int joins_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    return joined = pthread_timedjoin_np(first, NULL, &at) == 0;
}
static int joins_clock(void) {
    struct timespec at = in(CLOCK_MONOTONIC, 1);
    return joined = pthread_clockjoin_np(first, NULL, CLOCK_MONOTONIC, &at) == 0;
}

// Thread-specific data: the destructor runs in the thread, after all else.
static pthread_key_t key;
static void key_destructor(void *value) { *(int *)value = 1; }
static void key_setup(void) { pthread_key_create(&key, key_destructor); }
static void key_release(void) { pthread_setspecific(key, &data); }
static void again_destructor(void *value) {
    static int rounds;
    *(int *)value = 1;
    if (rounds++ < 2)
        pthread_setspecific(key, value);
}
static void again_setup(void) { pthread_key_create(&key, again_destructor); }
static void posting_destructor(void *value) {
    if (!is_late)
        *(int *)value = 1;
    sem_post(&semaphore);
    if (is_late)
        *(int *)value = 1;
}
static void posting_setup(void) {
    sem_setup();
    pthread_key_create(&key, posting_destructor);
}
static tss_t c11_key;
static void tss_setup(void) { tss_create(&c11_key, key_destructor); }
static void tss_release(void) { tss_set(c11_key, &data); }
// Who creates a key hands on what its destructor reads: the thread that ends runs it.
static void target_destructor(void *value) { (void)value, take(); }
static _Atomic int key_made;
static void creates_key(void) {
    pthread_key_create(&key, target_destructor);
    atomic_store(&key_made, 1);
}
static int ends_with_key(void) {
    if (atomic_load(&key_made))
        pthread_setspecific(key, &data);
    return 0;
}
// Who deletes the key when all have ended frees what they had.
static int deletes_key(void) {
    joined = pthread_join(first, NULL) == 0;
    pthread_key_delete(key);
    return 1;
}
static void cleans(void *unused) { (void)unused, give(); }
static void exits(void) {
    pthread_cleanup_push(cleans, NULL);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

// Handlers that were registered see what was before that, whoever runs them.
static _Atomic int registered;
static void registers_atexit(void) {
    atexit(take);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int exits_process(void) {
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        exit(0);
    return 0;
}
static void on_exit_handler(int status, void *unused) { (void)status, (void)unused, take(); }
static void registers_on_exit(void) {
    on_exit(on_exit_handler, NULL);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static void registers_quick(void) {
    at_quick_exit(take);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int exits_quickly(void) {
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        quick_exit(0);
    return 0;
}
static void registers_prepare(void) {
    pthread_atfork(take, NULL, NULL);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static void registers_parent(void) {
    pthread_atfork(NULL, take, NULL);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static void registers_child(void) {
    pthread_atfork(NULL, NULL, take);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int forks(void) {
    if (!atomic_load_explicit(&registered, memory_order_relaxed))
        return 0;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return 0;
}
// The usual use: the lock is held while the process is copied.
static void lock_plain(void) { pthread_mutex_lock(&plain); }
static void unlock_plain(void) { pthread_mutex_unlock(&plain); }
static void atfork_locks_setup(void) {
    plain_setup();
    pthread_atfork(lock_plain, unlock_plain, unlock_plain);
}
static void forks_with_lock(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_mutex_lock(&plain);
    plain_given = 1;
    pthread_mutex_unlock(&plain);
}
// The handlers themselves, of two threads that fork, under the lock that they take.
static void prepare_gives(void) {
    pthread_mutex_lock(&plain);
    give();
}
static void parent_takes(void) {
    take();
    pthread_mutex_unlock(&plain);
}
static void atfork_gives_setup(void) {
    plain_setup();
    pthread_atfork(prepare_gives, parent_takes, unlock_plain);
}
static void forks_once(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}
static int forks_too(void) {
    forks_once();
    return 0;
}

#include "system.h"

static void cancels(void) { pthread_cancel(second); }
static void cancelled(void *unused) { (void)unused, take(); }
static int sleeps_long(void) {
    pthread_cleanup_push(cancelled, NULL);
    pause();
    pthread_cleanup_pop(0);
    return 0;
}

#ifdef LIBRARY
// The library's constructor has returned for everybody who gets a handle.
static _Atomic int opened;
static void opens(void) {
    dlopen(LIBRARY, RTLD_NOW);
    atomic_store_explicit(&opened, 1, memory_order_relaxed);
}
static int looks_up(void) {
    if (!atomic_load_explicit(&opened, memory_order_relaxed))
        return 0;
    void *library = dlopen(LIBRARY, RTLD_NOW);
    return library && ((int *)dlsym(library, "constructed"))[0] == 2;
}
#endif

static const struct row {
    const char *name;
    void (*setup)(void);
    void (*release)(void);
    int (*acquire)(void);
    // 0: the first thread writes before `release`, or after it. 1: always before it. 2: within it, or
    // after it. 3: always within it.
    int within;
} rows[] = {
    {"mutex", plain_setup, plain_release, plain_acquire, 0},
    {"mutex-try", plain_setup, plain_release, plain_try, 0},
    {"mutex-timed", plain_setup, plain_release, plain_timed, 0},
    {"mutex-clock", plain_setup, plain_release, plain_clock, 0},
    {"mutex-recursive", recursive_setup, recursive_release, recursive_acquire, 0},
    {"mutex-checking", checking_setup, checking_release, checking_acquire, 0},
    {"mutex-adaptive", adaptive_setup, adaptive_release, adaptive_acquire, 0},
    {"mutex-inheriting", inheriting_setup, inheriting_release, inheriting_acquire, 0},
    {"robust", robust_setup, robust_release, robust_unlocks, 0},
    {"robust-dies", robust_setup, robust_dies, robust_acquire, 1},
    {"robust-dies-try", robust_setup, robust_dies, robust_try, 1},
    {"robust-dies-timed", robust_setup, robust_dies, robust_timed, 1},
    {"robust-dies-waited", robust_setup, robust_signals, robust_waits, 1},
    {"rwlock-read", NULL, rw_release, rw_read, 0},
    {"rwlock-try-read", NULL, rw_release, rw_try_read, 0},
    {"rwlock-timed-read", NULL, rw_release, rw_timed_read, 0},
    {"rwlock-write", NULL, rw_release, rw_write, 0},
    {"spinlock", spin_setup, spin_release, spin_acquire, 0},
    {"condition", plain_setup, cond_release, cond_acquire, 0},
    {"condition-timed", plain_setup, cond_release, cond_timed, 0},
    {"semaphore", sem_setup, sem_release, sem_acquire, 0},
    {"semaphore-try", sem_setup, sem_release, sem_try, 0},
    {"semaphore-timed", sem_setup, sem_release, sem_timed, 0},
    {"semaphore-named", named_setup, named_release, named_acquire, 0},
    {"barrier", barrier_setup, barrier_release, barrier_acquire, 0},
    {"once", NULL, once_release, once_acquire, 2},
    {"once-inlined", NULL, once_release, once_inlined, 2},
    {"call_once", NULL, flag_release, flag_acquire, 2},
    {"join", NULL, nothing, joins, 1},
    {"join-try", NULL, nothing, joins_try, 1},
    {"join-timed", NULL, nothing, joins_timed, 1},
    {"join-clock", NULL, nothing, joins_clock, 1},
    {"join-exit", NULL, exits, joins, 3},
    {"key", key_setup, key_release, joins, 3},
    {"key-again", again_setup, key_release, joins, 3},
    {"key-posts", posting_setup, key_release, sem_acquire, 2},
    {"key-deleted", key_setup, key_release, deletes_key, 3},
    {"key-created", NULL, creates_key, ends_with_key, 0},
    {"tss", tss_setup, tss_release, joins, 3},
    {"atexit", NULL, registers_atexit, exits_process, 0},
    {"on_exit", NULL, registers_on_exit, exits_process, 0},
    {"at_quick_exit", NULL, registers_quick, exits_quickly, 0},
    {"atfork-prepare", NULL, registers_prepare, forks, 0},
    {"atfork-parent", NULL, registers_parent, forks, 0},
    {"atfork-child", NULL, registers_child, forks, 1},
    {"atfork-locks", atfork_locks_setup, forks_with_lock, plain_acquire, 0},
    {"atfork-both", atfork_gives_setup, forks_once, forks_too, 3},
    {"signal-thread", signal_setup, kills, stays, 0},
    {"signal-process", signal_setup, kills_process, stays, 0},
    {"signal-queued", signal_setup, queues, stays, 0},
    {"signal-waited", blocked_setup, kills, waits_signal, 0},
    {"signal-info", blocked_setup, kills, waits_info, 0},
    {"signal-read", signalfd_setup, kills_process, reads_signal, 0},
    {"signal-suspended", handled_setup, kills, suspends, 0},
    {"signal-installed", NULL, installs, raises, 0},
    {"timer-thread", NULL, arms_thread, sleeps, 0},
    {"timer-signal", signal_setup, arms_signal, sleeps, 0},
    {"timer-alarm", alarm_setup, alarms, sleeps, 0},
    {"timer-descriptor", timerfd_setup, arms_descriptor, reads_timer, 0},
    {"pipe", pipe_setup, writes, reads, 0},
    {"pipe-closed", pipe_setup, closes, reads_end, 0},
    {"pipe-poll", pipe_setup, writes, polls, 0},
    {"pipe-select", pipe_setup, writes, selects, 0},
    {"pipe-epoll", pipe_setup, writes, epolls, 0},
    {"socket", socket_setup, sends, receives, 0},
    {"socket-shut", socket_setup, shuts, reads_end, 0},
    {"eventfd", eventfd_setup, writes, reads, 0},
    {"stream", stream_setup, prints, scans, 0},
    {"stream-lock", NULL, locks_stream, looks_in_stream, 0},
    {"mq", mq_setup, mq_sends, mq_takes, 0},
    {"mq-notified", mq_setup, mq_notifies, mq_sends_too, 0},
    {"msg", msg_setup, msg_sends, msg_takes, 0},
    {"semop", semop_setup, semop_release, semop_acquire, 0},
    {"flock", file_setup, flock_release, flock_acquire, 0},
    {"ofd-lock", file_setup, ofd_release, ofd_acquire, 0},
    {"aio-suspend", aio_setup, aio_begins, aio_ends, 0},
    {"aio-thread", aio_setup, aio_thread, sleeps, 0},
    {"futex", NULL, wakes, waits, 0},
    {"atomic", NULL, stores, loads, 0},
    {"fences", NULL, fences, loads_fenced, 0},
    {"fence-half", NULL, fences, loads, 0},
    {"sequence", NULL, stores, adds, 0},
    {"create", NULL, creates, stays, 0},
    {"cancel", NULL, cancels, sleeps_long, 0},
    {"c11-thread", NULL, nothing, creates_c11, 3},
    {"c11-condition", c11_setup, c11_release, c11_acquire, 0},
#ifdef LIBRARY
    {"dlopen", NULL, opens, looks_up, 1},
#endif
};

static const struct row *row;

static void *first_thread(void *unused) {
    (void)unused;
    is_first = 1;
    if (!is_late && row->within < 2)
        give();
    row->release();
    if (is_late)
        give();
    return NULL;
}
static void *second_thread(void *unused) {
    (void)unused;
    if (row->acquire())
        take();
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 2) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            printf("%s %d\n", rows[i].name, rows[i].within);
        return 0;
    }
    is_late = count > 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, arguments[1]))
            row = &rows[i];
    if (row == NULL)
        return 64;
    if (row->setup)
        row->setup();
    if (!strncmp(row->name, "signal", 6) || !strcmp(row->name, "cancel")) {
        pthread_create(&second, NULL, second_thread, NULL);
        pthread_create(&first, NULL, first_thread, NULL);
    } else {
        pthread_create(&first, NULL, first_thread, NULL);
        pthread_create(&second, NULL, second_thread, NULL);
    }
    pthread_join(second, NULL);
    if (!joined)
        pthread_join(first, NULL);
    return 0;
}
