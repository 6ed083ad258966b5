/* Semaphore misuse: a semaphore that should exclude starts at 2. */
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>

static sem_t mutex;
static int inside;

static void *enter(void *unused)
{
    sem_wait(&mutex);
    int before = inside++;
    assert(before == 0);
    sched_yield();
    inside--;
    sem_post(&mutex);
    return unused;
}

int main(void)
{
    pthread_t a, b;
#ifdef FIXED
    sem_init(&mutex, 0, 1);
#else
    sem_init(&mutex, 0, 2);
#endif
    pthread_create(&a, 0, enter, 0);
    pthread_create(&b, 0, enter, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
