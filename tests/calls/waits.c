/* Waits that signals end, most of them with a mask of their own: by ppoll and its kin, and by their
 * system calls. */
#define _GNU_SOURCE
#include "calls.h"
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>

enum by { PPOLL, PSELECT, EPOLL, EPOLL2, PPOLL_CALL, PSELECT_CALL, EPOLL_CALL, EPOLL2_CALL };

static pthread_t waiter;
static int ends[2];
static volatile sig_atomic_t handled;

static void notes(int signal)
{
    handled |= signal == SIGUSR1 ? 1 : 2;
}

static void handle(int signal)
{
    struct sigaction action = {.sa_handler = notes, .sa_flags = SA_RESTART};
    check(!sigaction(signal, &action, 0));
}

static sigset_t both(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    return set;
}

/* Blocks and handles both signals, makes the pipe that the calls wait for; the mask before. */
static sigset_t prepare(void)
{
    sigset_t blocked = both(), open;
    handle(SIGUSR1);
    handle(SIGUSR2);
    check(!pthread_sigmask(SIG_BLOCK, &blocked, &open));
    check(!pipe(ends));
    waiter = pthread_self();
    return open;
}

/* Waits for the pipe with this mask; a negative limit: for ever. */
static int wait_by(enum by by, const sigset_t *mask, int milliseconds)
{
    struct pollfd polled = {.fd = ends[0], .events = POLLIN};
    struct timespec limit = {0, milliseconds * 1000000L}, *until = milliseconds < 0 ? 0 : &limit;
    struct { const sigset_t *set; size_t size; } last = {mask, 8};
    struct epoll_event event = {.events = EPOLLIN};
    int epoll = epoll_create1(0), most = ends[0] + 1, result = -2;
    fd_set set;
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    check(!epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event));
    switch (by) {
    case PPOLL: result = ppoll(&polled, 1, until, mask); break;
    case PSELECT: result = pselect(most, &set, 0, 0, until, mask); break;
    case EPOLL: result = epoll_pwait(epoll, &event, 1, milliseconds, mask); break;
    case EPOLL2: result = epoll_pwait2(epoll, &event, 1, until, mask); break;
    case PPOLL_CALL: result = syscall(SYS_ppoll, &polled, 1, until, mask, 8); break;
    case PSELECT_CALL: result = syscall(SYS_pselect6, most, &set, 0, 0, until, &last); break;
    case EPOLL_CALL: result = syscall(SYS_epoll_pwait, epoll, &event, 1, milliseconds, mask, 8); break;
    case EPOLL2_CALL: result = syscall(SYS_epoll_pwait2, epoll, &event, 1, until, mask, 8); break;
    }
    int error = errno;
    close(epoll);
    errno = error;
    return result;
}

static void check_blocked(void)
{
    sigset_t now;
    check(!pthread_sigmask(SIG_BLOCK, 0, &now) && sigismember(&now, SIGUSR1) == 1);
}

static void *sends(void *unused)
{
    check(!pthread_kill(waiter, SIGUSR1));
    return unused;
}

static void *writes(void *unused)
{
    check(write(ends[1], "x", 1) == 1);
    return unused;
}

/* A signal that is open only in the wait ends it. */
static int interrupted(enum by by)
{
    sigset_t open = prepare();
    pthread_t t = start(sends, 0);
    check(wait_by(by, &open, -1) == -1 && errno == EINTR && handled == 1);
    check_blocked();
    pthread_join(t, 0);
    return 1;
}

static int ppoll_open(void) { return interrupted(PPOLL); }
static int pselect_open(void) { return interrupted(PSELECT); }
static int epoll_pwait_open(void) { return interrupted(EPOLL); }
static int epoll_pwait2_open(void) { return interrupted(EPOLL2); }
static int ppoll_call_open(void) { return interrupted(PPOLL_CALL); }
static int pselect_call_open(void) { return interrupted(PSELECT_CALL); }
static int epoll_pwait_call_open(void) { return interrupted(EPOLL_CALL); }
static int epoll_pwait2_call_open(void) { return interrupted(EPOLL2_CALL); }

/* 1: the signal came first; 2: what is waited for did, and the signal stays pending. */
static int first_of_two(enum by by)
{
    sigset_t open = prepare();
    pthread_t a = start(sends, 0), b = start(writes, 0);
    int result = wait_by(by, &open, -1);
    check_blocked();
    check(result == 1 ? !handled : result == -1 && errno == EINTR && handled == 1);
    pthread_join(a, 0);
    pthread_join(b, 0);
    check_blocked();
    check(result == 1 ? !handled : handled == 1);
    check(!pthread_sigmask(SIG_SETMASK, &open, 0) && handled == 1);
    return result == 1 ? 2 : 1;
}

static int ppoll_first(void) { return first_of_two(PPOLL); }
static int pselect_first(void) { return first_of_two(PSELECT); }
static int epoll_pwait_first(void) { return first_of_two(EPOLL); }
static int ppoll_call_first(void) { return first_of_two(PPOLL_CALL); }

/* What is there already is what the call returns, whatever signal is pending. */
static int ready_before(void)
{
    sigset_t open = prepare();
    writes(0);
    raise(SIGUSR1);
    for (enum by by = PPOLL; by <= EPOLL2_CALL; by++)
        check(wait_by(by, &open, -1) == 1 && wait_by(by, &open, 0) == 1 && !handled);
    check_blocked();
    return 1;
}

/* Asked without waiting: poll and select look for signals when nothing is there, epoll does not. */
static int at_once(void)
{
    sigset_t open = prepare();
    int outcome = 0;
    for (enum by by = PPOLL; by <= EPOLL2_CALL; by++) {
        raise(SIGUSR1);
        int result = wait_by(by, &open, 0);
        check(result == 0 ? !handled : result == -1 && errno == EINTR && handled == 1);
        outcome |= (result != 0) << by;
        handled = 0;
    }
    return outcome;
}

/* All the signals that the mask lets through are handled before the former one is back. */
static int two_signals(void)
{
    sigset_t open = prepare();
    raise(SIGUSR1);
    raise(SIGUSR2);
    check(wait_by(PPOLL, &open, -1) == -1 && errno == EINTR);
    check_blocked();
    return handled;
}

/* The mask is open for a signal that nobody handles. */
static int fatal(void)
{
    sigset_t open = prepare();
    signal(SIGUSR1, SIG_DFL);
    pthread_t t = start(sends, 0);
    wait_by(PPOLL, &open, -1);
    pthread_join(t, 0);
    return 1;
}

/* A signal that is open outside and blocked in the call: 1: handled before it; 2: after, or as it
 * returns. */
static struct timespec when;

static void notes_when(int unused)
{
    (void)unused;
    clock_gettime(CLOCK_MONOTONIC, &when);
}

static int blocked_in_wait(void)
{
    struct timespec before;
    sigset_t blocked = both();
    struct sigaction action = {.sa_handler = notes_when};
    check(!sigaction(SIGUSR1, &action, 0));
    waiter = pthread_self();
    clock_gettime(CLOCK_MONOTONIC, &before);
    pthread_t t = start(sends, 0);
    struct timespec limit = {0, 100000000};
    check(ppoll(0, 0, &limit, &blocked) == 0);
    pthread_join(t, 0);
    long long passed = (when.tv_sec - before.tv_sec) * 1000000000LL + when.tv_nsec - before.tv_nsec;
    return passed < limit.tv_nsec ? 1 : 2;
}

/* A jump out of the handler leaves the wait for good: later waits are as any others. */
static sigjmp_buf out;

static void jumps(int unused)
{
    (void)unused;
    siglongjmp(out, 1);
}

static int jump_out_of_wait(void)
{
    sigset_t open = prepare();
    signal(SIGUSR1, jumps);
    pthread_t t = start(sends, 0);
    if (!sigsetjmp(out, 1)) {
        wait_by(PPOLL, &open, -1);
        return 2;
    }
    check_blocked();
    pthread_join(t, 0);
    handle(SIGUSR1);
    raise(SIGUSR1);
    writes(0);
    check(wait_by(PPOLL, &open, -1) == 1 && !handled);
    return 1;
}

/* 1: a handler ended the wait; 2: what was waited for came first, or the signal before the wait. */
static sem_t semaphore;

static void *posts(void *unused)
{
    check(!sem_post(&semaphore));
    return unused;
}

static int semaphore_wait(void)
{
    struct sigaction action = {.sa_handler = notes};
    check(!sigaction(SIGUSR1, &action, 0) && !sem_init(&semaphore, 0, 0));
    waiter = pthread_self();
    pthread_t a = start(sends, 0), b = start(posts, 0);
    int result = sem_wait(&semaphore);
    check(result == 0 || (errno == EINTR && handled == 1));
    pthread_join(a, 0);
    pthread_join(b, 0);
    return result ? 1 : 2;
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int ready;

static void *awaits(void *unused)
{
    check(!pthread_mutex_lock(&mutex));
    while (!ready)
        check(!pthread_cond_wait(&condition, &mutex));
    check(!pthread_mutex_unlock(&mutex));
    return unused;
}

/* The waiter is woken, and a handler runs before it goes on. */
static int woken_and_handled(void)
{
    handle(SIGUSR1);
    pthread_t a = start(awaits, 0);
    check(!pthread_mutex_lock(&mutex));
    ready = 1;
    check(!pthread_cond_signal(&condition) && !pthread_mutex_unlock(&mutex));
    check(!pthread_kill(a, SIGUSR1));
    pthread_join(a, 0);
    return 1 + handled;
}

static void *takes(void *unused)
{
    while (sem_wait(&semaphore))
        check(errno == EINTR);
    return unused;
}

/* Main blocks the signal after it has made the thread, which does not. */
static int taken_by_other(void)
{
    handle(SIGUSR1);
    pthread_t a = start(takes, 0);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    check(!pthread_sigmask(SIG_BLOCK, &set, 0));
    check(!kill(getpid(), SIGUSR1) && !sem_post(&semaphore));
    pthread_join(a, 0);
    return 1 + handled;
}

static int sleep_ends(void)
{
    handle(SIGUSR1);
    waiter = pthread_self();
    pthread_t t = start(sends, 0);
    struct timespec limit = {0, 50000000}, rest = {0, 0};
    int result = nanosleep(&limit, &rest);
    check(result == 0 || (errno == EINTR && handled == 1));
    pthread_join(t, 0);
    return result ? 1 : 2;
}

static sem_t begun;

/* A signal that comes before it is blocked is handled. */
static void *blocks_at_once(void *tells)
{
    sigset_t set = both();
    if (tells)
        check(!sem_post(&begun));
    if (tells)
        check(!pthread_sigmask(SIG_BLOCK, &set, 0));
    else
        check(sigset(SIGUSR1, SIG_HOLD) != SIG_ERR);
    return tells;
}

/* A jump blocks, too. */
static void *blocks_by_jump(void *tells)
{
    sigset_t set = both();
    sigjmp_buf back;
    check(!pthread_sigmask(SIG_BLOCK, &set, 0));
    if (!sigsetjmp(back, 1)) {
        check(!pthread_sigmask(SIG_UNBLOCK, &set, 0));
        check(!sem_post(&begun));
        siglongjmp(back, 1);
    }
    return tells;
}

static int sent_to(void *(*blocks)(void *), int signal, int wait)
{
    check(!sem_init(&begun, 0, 0));
    pthread_t thread = start(blocks, wait ? &begun : 0);
    if (wait)
        check(!sem_wait(&begun));
    check(!pthread_kill(thread, signal));
    check(!pthread_join(thread, 0));
    return handled ? 1 : 2;
}

static int blocked_first(void)
{
    handle(SIGUSR1);
    return sent_to(blocks_at_once, SIGUSR1, 0);
}

static int blocked_after_telling(void)
{
    handle(SIGUSR1);
    return sent_to(blocks_at_once, SIGUSR1, 1);
}

static int fatal_unless_blocked(void)
{
    return sent_to(blocks_at_once, SIGUSR1, 1);
}

static int blocked_by_jump(void)
{
    handle(SIGUSR1);
    return sent_to(blocks_by_jump, SIGUSR1, 1);
}

static const struct mode modes[] = {
    MODE(ppoll_open), MODE(pselect_open), MODE(epoll_pwait_open), MODE(epoll_pwait2_open),
    MODE(ppoll_call_open), MODE(pselect_call_open), MODE(epoll_pwait_call_open),
    MODE(epoll_pwait2_call_open), MODE(ppoll_first), MODE(pselect_first), MODE(epoll_pwait_first),
    MODE(ppoll_call_first), MODE(ready_before), MODE(at_once), MODE(two_signals), MODE(fatal),
    MODE(blocked_in_wait), MODE(jump_out_of_wait), MODE(semaphore_wait),
    MODE(sleep_ends), MODE(woken_and_handled), MODE(taken_by_other),
    MODE(blocked_first), MODE(blocked_after_telling), MODE(fatal_unless_blocked),
    MODE(blocked_by_jump),
};

MAIN
