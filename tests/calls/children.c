/* Signals that child processes send, to threads that wait for them in every way. */
#define _GNU_SOURCE
#include "calls.h"
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

static sem_t semaphore;
static volatile sig_atomic_t handled, sender;

static void notes(int signal, siginfo_t *info, void *context)
{
    (void)context;
    handled = signal;
    sender = info->si_pid;
    sem_post(&semaphore);
}

static void handle(int signal)
{
    struct sigaction action = {.sa_sigaction = notes, .sa_flags = SA_SIGINFO};
    check(!sem_init(&semaphore, 0, 0) && !sigaction(signal, &action, 0));
}

static sigset_t only(int signal)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal);
    return set;
}

static void block(int signal)
{
    sigset_t set = only(signal);
    check(!pthread_sigmask(SIG_BLOCK, &set, 0));
}

static void *naps(void *unused)
{
    for (int i = 0; i < 3; i++)
        usleep(10);
    return unused;
}

/* A child that ends with 3. */
static pid_t ending(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(3);
    check(child > 0);
    return child;
}

static int reaped(pid_t child)
{
    int status;
    check(waitpid(child, &status, 0) == child);
    return WEXITSTATUS(status);
}

static int suspended(void)
{
    sigset_t none;
    sigemptyset(&none);
    block(SIGCHLD);
    handle(SIGCHLD);
    pthread_t other = start(naps, 0);
    pid_t child = ending();
    while (!handled)
        sigsuspend(&none);
    pthread_join(other, 0);
    return sender == child ? reaped(child) : 1;
}

static int posted_by_handler(void)
{
    handle(SIGCHLD);
    pthread_t other = start(naps, 0);
    pid_t child = ending();
    while (sem_wait(&semaphore))
        check(errno == EINTR);
    pthread_join(other, 0);
    return reaped(child);
}

static void *takes(void *unused)
{
    sigset_t set = only(SIGCHLD);
    int signal;
    check(!sigwait(&set, &signal) && signal == SIGCHLD);
    return unused;
}

static int waited_for(void)
{
    block(SIGCHLD);
    pthread_t other = start(takes, 0);
    pid_t child = ending();
    pthread_join(other, 0);
    return reaped(child);
}

static int waited_with_limit(void)
{
    sigset_t set = only(SIGCHLD);
    struct timespec limit = {20, 0};
    siginfo_t info;
    block(SIGCHLD);
    pid_t child = ending();
    check(sigtimedwait(&set, &info, &limit) == SIGCHLD && info.si_pid == child);
    check(info.si_status == 3);
    return reaped(child);
}

static int descriptor(void)
{
    sigset_t set = only(SIGCHLD);
    block(SIGCHLD);
    struct pollfd wait = {signalfd(-1, &set, 0), POLLIN, 0};
    struct signalfd_siginfo info;
    pthread_t other = start(naps, 0);
    pid_t child = ending();
    check(poll(&wait, 1, -1) == 1 && read(wait.fd, &info, sizeof info) == sizeof info);
    check((pid_t)info.ssi_pid == child && info.ssi_code == CLD_EXITED && info.ssi_status == 3);
    pthread_join(other, 0);
    return reaped(child);
}

/* The child answers a signal by one to the parent, whose number it got before. */
static int answered(void)
{
    pid_t parent = getpid();
    sigset_t none, set = only(SIGUSR1);
    siginfo_t info;
    sigemptyset(&none);
    block(SIGUSR1);
    pthread_t other = start(naps, 0);
    pid_t child = fork();
    if (child == 0) {
        int signal;
        sigwait(&set, &signal);
        _exit(sigqueue(parent, SIGUSR1, (union sigval){.sival_int = 5}) ? 1 : 3);
    }
    kill(child, SIGUSR1);
    check(sigwaitinfo(&set, &info) == SIGUSR1 && info.si_pid == child);
    check(info.si_value.sival_int == 5);
    pthread_join(other, 0);
    return reaped(child);
}

/* Asks for the child again and again. */
static int polled(void)
{
    int status;
    pid_t child;
    pthread_t other = start(naps, 0);
    ending();
    while (!(child = waitpid(-1, &status, WNOHANG)))
        sched_yield();
    pthread_join(other, 0);
    return child > 0 && waitpid(-1, &status, WNOHANG) == -1 ? WEXITSTATUS(status) : 1;
}

/* Which of two children ends first, is a race: what follows depends on it. */
static int first_of_two(void)
{
    int status, first;
    pthread_t other = start(naps, 0);
    pid_t slow = fork();
    if (slow == 0)
        _exit(4);
    ending();
    check(waitpid(-1, &first, 0) > 0);
    if (WEXITSTATUS(first) == 4)
        naps(0);
    check(waitpid(-1, &status, 0) > 0 && WEXITSTATUS(first) + WEXITSTATUS(status) == 7);
    pthread_join(other, 0);
    return WEXITSTATUS(first);
}

/* Two signals, which may come as one. */
static int signals_of_two(void)
{
    handle(SIGCHLD);
    pthread_t other = start(naps, 0);
    pid_t one = ending(), two = ending();
    while (sem_wait(&semaphore))
        check(errno == EINTR);
    pthread_join(other, 0);
    block(SIGCHLD);
    return reaped(one) == reaped(two) ? 3 : 1;
}

/* A child has the dispositions of its parent, and can change its own. */
static int inherited(void)
{
    handle(SIGUSR1);
    check(signal(SIGUSR2, SIG_IGN) != SIG_ERR);
    pid_t child = fork();
    if (!child) {
        struct sigaction action;
        check(!sigaction(SIGUSR1, 0, &action) && action.sa_sigaction == notes);
        check(action.sa_flags & SA_SIGINFO && !sigaction(SIGSEGV, 0, &action));
        check(action.sa_handler == SIG_DFL && signal(SIGUSR2, SIG_DFL) == SIG_IGN);
        check((void *)signal(SIGUSR1, SIG_DFL) == (void *)notes);
        _exit(signal(SIGUSR1, SIG_IGN) == SIG_DFL ? 3 : 4);
    }
    int status;
    check(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static const struct mode modes[] = {
    MODE(suspended), MODE(posted_by_handler), MODE(waited_for),
    MODE(waited_with_limit), MODE(descriptor), MODE(answered),
    MODE(polled), MODE(first_of_two), MODE(signals_of_two), MODE(inherited),
};

MAIN
