/* A wait of SECONDS for what another thread does after some steps: it fails where the time-out comes
   first. With "never" the other one does nothing, and the time-out is right. With "bug" nobody minds
   when it comes, but an update may be lost after the wait. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#ifndef SECONDS
#define SECONDS 5
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, held = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem, ready;
static int done, never, bug, count, word, pipe_ends[2], timer;
static volatile sig_atomic_t expired;

static void on_alarm(int signal) { expired = 1; }
static void on_timer(union sigval value) { expired = 1; }

static struct timespec later(clockid_t clock)
{
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += SECONDS;
    return at;
}

/* Adds one, with others in between. */
static void add(void)
{
    pthread_mutex_lock(&lock);
    int old = count;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    count = old + 1;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused)
{
    pthread_mutex_lock(&held);
    sem_post(&ready);
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        pthread_mutex_unlock(&lock);
    }
    if (never) {
        pthread_mutex_unlock(&held);
        return 0;
    }
    pthread_mutex_lock(&lock);
    done = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&lock);
    sem_post(&sem);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0);
    write(pipe_ends[1], "x", 1);
    pthread_mutex_unlock(&held);
    if (bug)
        add();
    return 0;
}

/* Does the time-out come first? */
static int times_out(const char *how)
{
    struct timespec real = later(CLOCK_REALTIME), mono = later(CLOCK_MONOTONIC), rest = {SECONDS, 0};
    struct pollfd fd = {pipe_ends[0], POLLIN, 0};
    if (!strcmp(how, "cond")) {
        int error = 0;
        pthread_mutex_lock(&lock);
        while (!done && !error)
            error = pthread_cond_timedwait(&cond, &lock, &real);
        pthread_mutex_unlock(&lock);
        return error == ETIMEDOUT && !done;
    }
    if (!strcmp(how, "clockcond")) {
        int error = 0;
        pthread_mutex_lock(&lock);
        while (!done && !error)
            error = pthread_cond_clockwait(&cond, &lock, CLOCK_MONOTONIC, &mono);
        pthread_mutex_unlock(&lock);
        return error == ETIMEDOUT && !done;
    }
    if (!strcmp(how, "sem"))
        return sem_timedwait(&sem, &real) != 0;
    if (!strcmp(how, "futex"))
        return !word && syscall(SYS_futex, &word, FUTEX_WAIT, 0, &rest, 0, 0) && errno == ETIMEDOUT;
    if (!strcmp(how, "poll"))
        return poll(&fd, 1, SECONDS * 1000) == 0;
    if (!strcmp(how, "select")) {
        fd_set set;
        struct timeval limit = {SECONDS, 0};
        FD_ZERO(&set);
        FD_SET(pipe_ends[0], &set);
        return select(pipe_ends[0] + 1, &set, 0, 0, &limit) == 0;
    }
    if (!strcmp(how, "epoll")) {
        int e = epoll_create1(0);
        struct epoll_event event = {EPOLLIN};
        epoll_ctl(e, EPOLL_CTL_ADD, pipe_ends[0], &event);
        return epoll_wait(e, &event, 1, SECONDS * 1000) == 0;
    }
    if (!strcmp(how, "sleep")) {
        sleep(SECONDS);
        return !done;
    }
    if (!strcmp(how, "mutex") && !never)
        return pthread_mutex_timedlock(&held, &real) != 0;
    if (!strcmp(how, "timerfd")) {
        struct pollfd both[2] = {fd, {timer, POLLIN, 0}};
        poll(both, 2, -1);
        return !(both[0].revents & POLLIN);
    }
    /* Timers that were set before the worker began. */
    if (never)
        sem_wait(&sem);
    else
        while (sem_wait(&sem))
            ;
    return expired;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    pthread_t thread;
    never = argc > 2 && !strcmp(argv[2], "never");
    bug = argc > 2 && !strcmp(argv[2], "bug");
    sem_init(&sem, 0, 0);
    sem_init(&ready, 0, 0);
    pipe(pipe_ends);
    struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, 0);
    if (!strcmp(how, "alarm"))
        alarm(SECONDS);
    if (!strcmp(how, "setitimer")) {
        struct itimerval in = {{0, 0}, {SECONDS, 0}};
        setitimer(ITIMER_REAL, &in, 0);
    }
    if (!strcmp(how, "timer") || !strcmp(how, "timerthread")) {
        struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
        if (how[5]) {
            event.sigev_notify = SIGEV_THREAD;
            event.sigev_notify_function = on_timer;
        }
        struct itimerspec in = {{0, 0}, {SECONDS, 0}};
        timer_t id;
        timer_create(CLOCK_MONOTONIC, &event, &id);
        timer_settime(id, 0, &in, 0);
    }
    if (!strcmp(how, "timerfd")) {
        struct itimerspec in = {{0, 0}, {SECONDS, 0}};
        timer = timerfd_create(CLOCK_MONOTONIC, 0);
        timerfd_settime(timer, 0, &in, 0);
    }
    pthread_create(&thread, 0, worker, 0);
    sem_wait(&ready);
    int late = times_out(how);
    if (bug) {
        add();
        pthread_join(thread, 0);
        assert(count == 2);
        return 0;
    }
    if (never)
        assert(late);
    else
        assert(!late);
    pthread_join(thread, 0);
    return 0;
}
