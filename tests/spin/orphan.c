/* A thread ends and leaves a robust mutex locked; another one tries it twice and ends with what it met: 1 a lock that is
   held, 2 one whose owner has ended, 3 a free one. -DLOOP: it tries until it has the lock, and ends with 0. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t mutex;
static int met;

static void *leaves_it(void *unused)
{
    pthread_mutex_lock(&mutex);
    return unused;
}

static int tries(void)
{
    int result = pthread_mutex_trylock(&mutex);
    if (result == EOWNERDEAD)
        pthread_mutex_consistent(&mutex);
    if (result != EBUSY)
        pthread_mutex_unlock(&mutex);
    return result == EBUSY ? 1 : result == EOWNERDEAD ? 2 : 3;
}

static void *takes_it(void *unused)
{
#ifdef LOOP
    while (tries() == 1) {
    }
#else
    for (int i = 0; i < 2; i++)
        met = 4 * met + tries();
#endif
    return unused;
}

int main(void)
{
    pthread_mutexattr_t robust;
    pthread_t threads[2];
    pthread_mutexattr_init(&robust);
    pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&mutex, &robust);
    pthread_create(&threads[0], 0, leaves_it, 0);
    pthread_create(&threads[1], 0, takes_it, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    exit(met);
}
