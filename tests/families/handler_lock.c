/* A handler takes a lock that the thread it interrupts may hold. */
#include <pthread.h>
#include <signal.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counted;

static void on_signal(int signal)
{
    (void)signal;
    pthread_mutex_lock(&lock);
    counted++;
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    sigset_t set, old;
    (void)unused;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &set, &old);
#endif
    pthread_mutex_lock(&lock);
    counted++;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    pthread_sigmask(SIG_SETMASK, &old, 0);
#endif
    (void)old;
    return 0;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t t;
    sigaction(SIGUSR1, &action, 0);
    pthread_create(&t, 0, work, 0);
    pthread_kill(t, SIGUSR1);
    return pthread_join(t, 0);
}
