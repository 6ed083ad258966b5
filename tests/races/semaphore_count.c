// Two producers, one wait: it may be for the other one. Fixed: it waits for both.
#include <pthread.h>
#include <semaphore.h>

static int parts[2];
static sem_t done;

static void *produce(void *which) {
    *(int *)which = 1;
#ifndef FIXED
    if (which != &parts[0])
        return 0;
#endif
    sem_post(&done);
    return 0;
}

int main(void) {
    pthread_t first, second;
    sem_init(&done, 0, 0);
    pthread_create(&first, 0, produce, &parts[0]);
    pthread_create(&second, 0, produce, &parts[1]);
    sem_wait(&done);
#ifdef FIXED
    sem_wait(&done);
#endif
    int sum = parts[0] + parts[1];
    pthread_join(first, 0);
    pthread_join(second, 0);
    return sum > 2;
}
