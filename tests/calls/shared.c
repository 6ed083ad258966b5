/* Locks, conditions and semaphores in memory that a child process shares. */
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

static const struct mode modes[] = {
    MODE(condition_from_child), MODE(condition_from_parent), MODE(condition_times_out),
    MODE(contended_lock), MODE(contended_recursive), MODE(held_by_child),
    MODE(semaphore_from_child), MODE(semaphores_both_ways), MODE(afterwards),
};

MAIN
