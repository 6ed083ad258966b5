/* The signal may come between the look at the flag and pause(), which then waits for ever. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t told;

static void on_signal(int signal)
{
    (void)signal;
    told = 1;
}

static void *tell(void *waiter)
{
    pthread_kill(*(pthread_t *)waiter, SIGUSR1);
    return 0;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t self = pthread_self(), t;
    sigset_t open;
    sigaction(SIGUSR1, &action, 0);
#ifdef FIXED
    sigset_t closed;
    sigemptyset(&closed);
    sigaddset(&closed, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &closed, &open);
#endif
    pthread_create(&t, 0, tell, &self);
    while (!told)
#ifdef FIXED
        sigsuspend(&open);
#else
        pause();
#endif
    (void)open;
    return pthread_join(t, 0);
}
