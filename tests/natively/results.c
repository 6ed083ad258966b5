// What calls about signals, mutexes and select return and write where that depends on nobody else: each line
// is one, printed as it comes out.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/time.h>
#include <unistd.h>

static void *nothing(void *arg) { return arg; }
static void handler(int signal) { (void)signal; }

static int is_pending(int signal)
{
    sigset_t set;
    sigpending(&set);
    return sigismember(&set, signal);
}

static void mutexes(void)
{
    const int types[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK};
    for (int type = 0; type < 3; type++)
        for (int how = 0; how < 3; how++) {
            pthread_mutexattr_t attr;
            pthread_mutex_t mutex;
            pthread_mutexattr_init(&attr);
            pthread_mutexattr_settype(&attr, types[type]);
            if (how == 1)
                pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
            if (how == 2)
                pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
            pthread_mutex_init(&mutex, &attr);
            int locked = pthread_mutex_lock(&mutex), again = pthread_mutex_trylock(&mutex);
            printf("mutex %d %d: %d %d\n", type, how, locked, again);
        }
}

static void sent(void)
{
    sigset_t set;
    siginfo_t info;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    for (int how = 0; how < 6; how++) {
        switch (how) {
        case 0: pthread_kill(pthread_self(), SIGUSR1); break;
        case 1: raise(SIGUSR1); break;
        case 2: kill(getpid(), SIGUSR1); break;
        case 3: sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 7}); break;
        case 4: setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 1000}}, NULL); break;
        case 5: alarm(1); break;
        }
        int signal = sigwaitinfo(&set, &info);
        printf("sent %d: %d %d %d\n", how, signal, info.si_code, info.si_code <= 0 && info.si_pid == getpid());
    }
}

static void discarded(void)
{
    const int signals[] = {SIGUSR1, SIGURG, SIGWINCH, SIGCHLD, SIGCONT};
    for (int i = 0; i < 5; i++)
        for (int ignored = 0; ignored < 2; ignored++) {
            sigset_t set;
            sigemptyset(&set);
            sigaddset(&set, signals[i]);
            pthread_sigmask(SIG_BLOCK, &set, NULL);
            signal(signals[i], handler);
            raise(signals[i]);
            int before = is_pending(signals[i]);
            signal(signals[i], ignored ? SIG_IGN : SIG_DFL);
            printf("discarded %d %d: %d %d\n", i, ignored, before, is_pending(signals[i]));
            signal(signals[i], SIG_IGN);
            pthread_sigmask(SIG_UNBLOCK, &set, NULL);
            signal(signals[i], SIG_DFL);
        }
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
    for (int signal = 30; signal < 36; signal++)
        if (signal == 32 || signal == 33) {
            union sigval value = {0};
            int killed = pthread_kill(pthread_self(), signal);
            int queued = pthread_sigqueue(pthread_self(), signal, value);
            printf("internal %d: %d %d %d %d\n", signal, killed, queued, sighold(signal), sigrelse(signal));
        }
    mutexes();
    sent();
    discarded();
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESETHAND | SA_NODEFER}, after;
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    sigaction(SIGUSR2, NULL, &after);
    int kept = SA_RESETHAND | SA_NODEFER;
    printf("reset: %d %x\n", after.sa_handler == SIG_DFL, after.sa_flags & kept);
    struct timeval limit = {0, 2500};
    int found = select(0, NULL, NULL, NULL, &limit);
    printf("select: %d %ld %ld\n", found, (long)limit.tv_sec, (long)limit.tv_usec);
    int ends[2];
    fd_set set;
    FD_ZERO(&set);
    if (pipe(ends) || write(ends[1], "x", 1) != 1)
        return 9;
    FD_SET(ends[0], &set);
    limit = (struct timeval){5, 0};
    found = select(ends[0] + 1, &set, NULL, NULL, &limit);
    printf("select, ready: %d %d\n", found, limit.tv_sec >= 4);
    return 0;
}
