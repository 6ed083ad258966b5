/* Signals: the waiter blocks the signal only once it runs, so one that comes earlier takes its
 * default action, which ends the process. The fixed twin blocks it before there is a waiter. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>

static sigset_t stop;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *wait_for_stop(void *unused)
{
    int caught = 0;
    pthread_mutex_lock(&lock);
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
    pthread_mutex_unlock(&lock);
    assert(sigwait(&stop, &caught) == 0 && caught == SIGUSR1);
    return unused;
}

int main(void)
{
    pthread_t waiter;
    sigemptyset(&stop);
    sigaddset(&stop, SIGUSR1);
#ifdef FIXED
    pthread_sigmask(SIG_BLOCK, &stop, NULL);
#endif
    pthread_create(&waiter, NULL, wait_for_stop, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    pthread_kill(waiter, SIGUSR1);
    pthread_join(waiter, NULL);
    return 0;
}
