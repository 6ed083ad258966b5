/* A thread tries a lock (-DSEMAPHORE: a semaphore) until it has it or is told to give up. Main, which holds it, tells
   it so by a variable. */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static volatile int given_up;

static void *tries(void *unused)
{
#ifdef SEMAPHORE
    while (!given_up && sem_trywait(&semaphore)) {
    }
#else
    while (!given_up && pthread_mutex_trylock(&mutex)) {
    }
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
    pthread_mutex_lock(&mutex);
    pthread_create(&thread, 0, tries, 0);
    sched_yield();
    given_up = 1;
    pthread_join(thread, 0);
    return 0;
}
