// A handler reads on one thread what another writes a while after it has set the timer. Fixed:
// before that.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

static volatile int state;
static volatile int seen;

static void handler(int unused) {
    (void)unused;
    seen = state;
}

static void *work(void *unused) {
    for (int i = 0; i < 3; i++)
        usleep(1000);
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGALRM, &action, 0);
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
    sigset_t alarm;
    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, 0);
#ifdef FIXED
    state = 1;
#endif
    struct itimerval soon = {.it_value.tv_usec = 100};
    setitimer(ITIMER_REAL, &soon, 0);
#ifndef FIXED
    usleep(2000);
    state = 1;
#endif
    pthread_join(worker, 0);
    return 0;
}
