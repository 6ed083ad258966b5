/* Real-time signals queue in order with their values; a blocked one waits for sigtimedwait; which
 * thread takes a signal to the process is open. The mistake: to expect that it is main. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static pthread_t taker;
static volatile int seen;

static void on_value(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    assert(info->si_code == SI_QUEUE && info->si_value.sival_int == seen + 1);
    seen++;
}

static void on_process(int signal)
{
    (void)signal;
    taker = pthread_self();
}

static void *other(void *unused)
{
    (void)unused;
    sched_yield();
    return 0;
}

int main(void)
{
    struct sigaction values = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
    struct sigaction process = {.sa_handler = on_process};
    struct timespec limit = {1, 0};
    siginfo_t info;
    sigset_t set;
    pthread_t t;
    sigaction(SIGRTMIN + 1, &values, 0);
    for (int i = 1; i <= 3; i++)
        sigqueue(getpid(), SIGRTMIN + 1, (union sigval){.sival_int = i});
    assert(seen == 3);

    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    raise(SIGUSR2);
    assert(sigtimedwait(&set, &info, &limit) == SIGUSR2 && info.si_pid == getpid());
    assert(sigtimedwait(&set, &info, &limit) == -1 && errno == EAGAIN);

    sigaction(SIGUSR1, &process, 0);
#ifdef FIXED
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    pthread_create(&t, 0, other, 0);
    pthread_sigmask(SIG_UNBLOCK, &set, 0);
#else
    pthread_create(&t, 0, other, 0);
#endif
    kill(getpid(), SIGUSR1);
    pthread_join(t, 0);
    assert(pthread_equal(taker, pthread_self()));
    return 0;
}
