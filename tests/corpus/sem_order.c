/* Semaphore misuse: the consumer enters the critical section before it waits for an item, and so
 * keeps the producer out. */
#include <pthread.h>
#include <semaphore.h>

static sem_t mutex, items;
static int stored;

static void *produce(void *unused)
{
    sem_wait(&mutex);
    stored++;
    sem_post(&mutex);
    sem_post(&items);
    return unused;
}

static void *consume(void *unused)
{
#ifdef FIXED
    sem_wait(&items);
    sem_wait(&mutex);
#else
    sem_wait(&mutex);
    sem_wait(&items);
#endif
    stored--;
    sem_post(&mutex);
    return unused;
}

int main(void)
{
    pthread_t p, c;
    sem_init(&mutex, 0, 1);
    sem_init(&items, 0, 0);
    pthread_create(&p, 0, produce, 0);
    pthread_create(&c, 0, consume, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    return stored;
}
