/* alarm, setitimer, timer signals with their values, a timer descriptor. The mistake: a handler
 * that counts is taken for as quick as the timer. */
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

static volatile int alarms, fired;

static void on_alarm(int signal)
{
    (void)signal;
    alarms++;
}

static void on_timer(int signal, siginfo_t *info, void *context)
{
    (void)signal;
    (void)context;
    assert(info->si_code == SI_TIMER && info->si_value.sival_int == 9);
    fired += 1 + info->si_overrun;
}

int main(void)
{
    struct sigaction quick = {.sa_handler = on_alarm};
    struct sigaction timed = {.sa_sigaction = on_timer, .sa_flags = SA_SIGINFO};
    struct itimerval every = {{0, 1000}, {0, 1000}}, none = {{0, 0}, {0, 0}};
    struct itimerspec soon = {{0, 1000000}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    sigset_t wait, block;
    timer_t timer;
    uint64_t count;
    sigemptyset(&block);
    sigaddset(&block, SIGALRM);
    sigaddset(&block, SIGUSR1);
    sigprocmask(SIG_BLOCK, &block, &wait);
    sigaction(SIGALRM, &quick, 0);
    sigaction(SIGUSR1, &timed, 0);

    assert(alarm(2) == 0);
    sigsuspend(&wait);
    assert(alarms == 1 && alarm(0) == 0);
    setitimer(ITIMER_REAL, &every, 0);
    while (alarms < 4)
        sigsuspend(&wait);
    setitimer(ITIMER_REAL, &none, 0);

    event.sigev_value.sival_int = 9;
    assert(timer_create(CLOCK_REALTIME, &event, &timer) == 0);
    assert(timer_settime(timer, 0, &soon, 0) == 0);
    for (int calls = 0; fired < 3; calls++) {
        sigsuspend(&wait);
#ifndef FIXED
        usleep(1500);
        assert(fired == calls + 1);
#endif
    }
    assert(timer_settime(timer, 0, &never, 0) == 0 && timer_delete(timer) == 0);

    int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    assert(fd >= 0 && timerfd_settime(fd, 0, &soon, 0) == 0);
    assert(read(fd, &count, sizeof count) == sizeof count && count >= 1);
    assert(timerfd_settime(fd, 0, &never, 0) == 0);
    return close(fd);
}
