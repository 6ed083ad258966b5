/* Objects of every kind in memory that a child process shares. */
#define _GNU_SOURCE
#include "calls.h"
#include <fcntl.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static struct shared {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    sem_t done;
    pthread_rwlock_t rwlock;
    pthread_barrier_t barrier;
    int value;
} *shared;

static void make(int type)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    shared = mmap(0, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(shared != MAP_FAILED);
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_settype(&mutex, type);
    check(!pthread_mutex_init(&shared->lock, &mutex));
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    check(!pthread_cond_init(&shared->changed, &cond));
    check(!sem_init(&shared->done, 1, 0));
}

static void lock(void)
{
    check(!pthread_mutex_lock(&shared->lock));
}

static void unlock(void)
{
    check(!pthread_mutex_unlock(&shared->lock));
}

static int status_of(pid_t child)
{
    int status;
    check(waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void *waits_for_value(void *unused)
{
    lock();
    while (shared->value == 0)
        check(!pthread_cond_wait(&shared->changed, &shared->lock));
    unlock();
    return unused;
}

/* The child says that it has changed what is shared. */
static int condition_from_child(void)
{
    make(PTHREAD_MUTEX_DEFAULT);
    pid_t child = fork();
    if (child == 0) {
        usleep(3000);
        lock();
        shared->value = 5;
        pthread_cond_broadcast(&shared->changed);
        unlock();
        _exit(0);
    }
    pthread_t t = start(waits_for_value, 0);
    waits_for_value(0);
    pthread_join(t, 0);
    check(status_of(child) == 0);
    return shared->value;
}

/* The parent does. */
static int condition_from_parent(void)
{
    make(PTHREAD_MUTEX_ERRORCHECK);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        waits_for_value(0);
        _exit(7);
    }
    usleep(2000);
    lock();
    shared->value = 5;
    pthread_cond_signal(&shared->changed);
    unlock();
    return status_of(child);
}

/* A time-out is one, whatever the child does meanwhile. */
static int condition_times_out(void)
{
    make(PTHREAD_MUTEX_DEFAULT);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        pause();
        _exit(0);
    }
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    if ((limit.tv_nsec += 5000000) >= 1000000000)
        limit.tv_sec++, limit.tv_nsec -= 1000000000;
    int result = 0;
    lock();
    while (shared->value == 0 && result == 0)
        result = pthread_cond_timedwait(&shared->changed, &shared->lock, &limit);
    unlock();
    kill(child, SIGKILL);
    check(status_of(child) == -1);
    return result == ETIMEDOUT;
}

/* Nobody holds the lock while somebody else does. */
static void adds(void)
{
    for (int i = 0; i < 3; i++) {
        lock();
        int value = shared->value;
        usleep(100);
        shared->value = value + 1;
        unlock();
    }
}

static void *adds_too(void *unused)
{
    adds();
    return unused;
}

static int contended(int type)
{
    make(type);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        adds();
        _exit(0);
    }
    pthread_t t = start(adds_too, 0);
    adds();
    pthread_join(t, 0);
    check(status_of(child) == 0);
    return shared->value;
}

static int contended_lock(void) { return contended(PTHREAD_MUTEX_DEFAULT); }
static int contended_recursive(void) { return contended(PTHREAD_MUTEX_RECURSIVE); }

/* The child has the lock: tried in vain, waited for in vain, and had once it is given back. */
static int held_by_child(void)
{
    int ends[2];
    char byte;
    make(PTHREAD_MUTEX_DEFAULT);
    check(!pipe(ends));
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        lock();
        check(write(ends[1], "x", 1) == 1);
        check(!sem_wait(&shared->done));
        unlock();
        _exit(0);
    }
    check(read(ends[0], &byte, 1) == 1);
    check(pthread_mutex_trylock(&shared->lock) == EBUSY);
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    if ((limit.tv_nsec += 2000000) >= 1000000000)
        limit.tv_sec++, limit.tv_nsec -= 1000000000;
    check(pthread_mutex_timedlock(&shared->lock, &limit) == ETIMEDOUT);
    check(!sem_post(&shared->done));
    lock();
    unlock();
    check(!pthread_mutex_trylock(&shared->lock));
    unlock();
    return status_of(child) == 0;
}

static int semaphore_from_child(void)
{
    make(PTHREAD_MUTEX_DEFAULT);
    pid_t child = fork();
    if (child == 0) {
        shared->value = 6;
        sem_post(&shared->done);
        _exit(0);
    }
    while (sem_wait(&shared->done))
        ;
    int value = shared->value;
    check(status_of(child) == 0);
    return value;
}

/* Both sides post and wait, all at once: nothing is lost. */
static void exchanges(void)
{
    for (int i = 0; i < 4; i++) {
        check(!sem_post(&shared->done));
        check(!sem_wait(&shared->done));
    }
    check(!sem_post(&shared->done));
}

static void *exchanges_too(void *unused)
{
    exchanges();
    return unused;
}

static int semaphores_both_ways(void)
{
    int posted;
    make(PTHREAD_MUTEX_DEFAULT);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        exchanges();
        _exit(9);
    }
    pthread_t t = start(exchanges_too, 0);
    exchanges();
    pthread_join(t, 0);
    int status = status_of(child);
    check(!sem_getvalue(&shared->done, &posted));
    return status + posted;
}

/* Once there is no child any more, all is as with any lock: a deadlock is one. */
static int afterwards(void)
{
    make(PTHREAD_MUTEX_DEFAULT);
    pid_t child = fork();
    if (child == 0) {
        adds();
        _exit(0);
    }
    check(status_of(child) == 0);
    pthread_t t = start(waits_for_value, 0);
    adds();
    lock();
    pthread_cond_broadcast(&shared->changed);
    unlock();
    pthread_join(t, 0);
    return shared->value;
}

static void *locks_once(void *unused)
{
    lock();
    unlock();
    return unused;
}

/* The child dies with the lock; this process has it then. */
static void inherit_from_child(void)
{
    pthread_mutexattr_t attributes;
    make(PTHREAD_MUTEX_DEFAULT);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    check(!pthread_mutex_init(&shared->lock, &attributes));
    pid_t child = fork();
    if (child == 0) {
        lock();
        sem_post(&shared->done);
        usleep(2000);
        _exit(0);
    }
    while (sem_wait(&shared->done))
        ;
    check(pthread_mutex_lock(&shared->lock) == EOWNERDEAD);
    check(!pthread_mutex_consistent(&shared->lock));
    check(status_of(child) == 0);
}

static void *sets_value(void *unused)
{
    lock();
    shared->value = 1;
    check(!pthread_cond_broadcast(&shared->changed));
    unlock();
    return unused;
}

/* A condition waits with such a lock, with and without a limit. */
static int orphaned_condition(void)
{
    inherit_from_child();
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_nsec = 0;
    check(pthread_cond_timedwait(&shared->changed, &shared->lock, &limit) == ETIMEDOUT);
    unlock();
    pthread_t t = start(sets_value, 0), other = start(waits_for_value, 0);
    waits_for_value(0);
    pthread_join(t, 0);
    pthread_join(other, 0);
    return 1;
}

/* Once it is given back, it is a lock like others. */
static int orphaned_by_child(void)
{
    inherit_from_child();
    unlock();
    pthread_t t = start(locks_once, 0);
    lock();
    unlock();
    pthread_join(t, 0);
    return 1;
}

static void meets(void)
{
    for (int i = 0; i < 3; i++)
        if (pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
            __atomic_fetch_add(&shared->value, 1, __ATOMIC_SEQ_CST);
}

static void *meets_too(void *unused)
{
    meets();
    return unused;
}

/* Two threads and a child, three times. */
static int barrier_with_child(void)
{
    pthread_barrierattr_t attributes;
    make(PTHREAD_MUTEX_DEFAULT);
    pthread_barrierattr_init(&attributes);
    pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    check(!pthread_barrier_init(&shared->barrier, &attributes, 3));
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        meets();
        _exit(0);
    }
    pthread_t t = start(meets_too, 0);
    meets();
    pthread_join(t, 0);
    check(status_of(child) == 0);
    return shared->value;
}

/* Writers and a reader; what is not atomic is kept together. */
static void writes(void)
{
    for (int i = 0; i < 20; i++) {
        check(!pthread_rwlock_wrlock(&shared->rwlock));
        shared->value++;
        check(!pthread_rwlock_unlock(&shared->rwlock));
    }
}

static void *writes_too(void *unused)
{
    writes();
    return unused;
}

static int written_by_child(void)
{
    pthread_rwlockattr_t attributes;
    make(PTHREAD_MUTEX_DEFAULT);
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    check(!pthread_rwlock_init(&shared->rwlock, &attributes));
    pid_t child = fork();
    if (child == 0) {
        writes();
        _exit(0);
    }
    pthread_t t = start(writes_too, 0);
    writes();
    pthread_join(t, 0);
    check(status_of(child) == 0);
    check(!pthread_rwlock_rdlock(&shared->rwlock));
    int value = shared->value;
    check(!pthread_rwlock_unlock(&shared->rwlock));
    return value;
}

static int named_by_child(void)
{
    char name[64];
    snprintf(name, sizeof name, "/raddle-calls-%d", (int)getpid());
    sem_t *named = sem_open(name, O_CREAT | O_EXCL, 0600, 0);
    check(named != SEM_FAILED);
    pid_t child = fork();
    if (child == 0) {
        sem_t *same = sem_open(name, 0);
        _exit(same == SEM_FAILED || sem_post(same) || sem_close(same));
    }
    check(!sem_wait(named));
    check(status_of(child) == 0);
    check(!sem_unlink(name) && !sem_close(named));
    return 1;
}

/* A count that is too great to be told apart from others in the schedule. */
static int great_count(void)
{
    int value;
    make(PTHREAD_MUTEX_DEFAULT);
    check(!sem_init(&shared->done, 1, 30000));
    pid_t child = fork();
    if (child == 0)
        _exit(sem_wait(&shared->done));
    check(status_of(child) == 0);
    check(!sem_getvalue(&shared->done, &value));
    return value == 29999;
}

static const struct mode modes[] = {
    MODE(orphaned_by_child), MODE(orphaned_condition), MODE(barrier_with_child), MODE(written_by_child),
    MODE(named_by_child),
    MODE(condition_from_child), MODE(condition_from_parent), MODE(condition_times_out),
    MODE(contended_lock), MODE(contended_recursive), MODE(held_by_child),
    MODE(semaphore_from_child), MODE(semaphores_both_ways), MODE(afterwards),
    MODE(great_count),
};

MAIN
