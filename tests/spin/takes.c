/* Each round of the loop takes one from a semaphore, and ends when none is left. */
#include <pthread.h>
#include <semaphore.h>

static sem_t left;
static volatile int stop;

static void *take_all(void *unused)
{
    while (!stop && sem_trywait(&left) == 0) {
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    sem_init(&left, 0, 8);
    pthread_create(&thread, 0, take_all, 0);
    pthread_join(thread, 0);
    return 0;
}
