/* Misuse: the owner of an object destroys its lock as soon as a flag says that the worker is
 * done; the worker sets the flag while it still holds the lock. */
#include <pthread.h>
#include <semaphore.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t done;
static int result;

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    result = 1;
#ifndef FIXED
    sem_post(&done);
#endif
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    sem_post(&done);
#endif
    return unused;
}

int main(void)
{
    pthread_t t;
    sem_init(&done, 0, 0);
    pthread_create(&t, 0, worker, 0);
    sem_wait(&done);
    pthread_mutex_destroy(&lock);
    pthread_join(t, 0);
    return result != 1;
}
