/* sem_wait returns early when a handler has run; who does not look goes on too soon. */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

static sem_t ready;
static int prepared;

static void on_signal(int signal)
{
    (void)signal;
}

static void *consume(void *unused)
{
    (void)unused;
#ifdef FIXED
    while (sem_wait(&ready) != 0)
        assert(errno == EINTR);
#else
    sem_wait(&ready);
#endif
    assert(prepared);
    return 0;
}

int main(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    pthread_t t;
    sigaction(SIGUSR1, &action, 0);
    sem_init(&ready, 0, 0);
    pthread_create(&t, 0, consume, 0);
    pthread_kill(t, SIGUSR1);
    sched_yield();
    prepared = 1;
    sem_post(&ready);
    return pthread_join(t, 0);
}
