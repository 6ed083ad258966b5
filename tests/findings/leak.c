// A thread waits for ever when main returns; nobody has joined or detached it. Fixed: detached.
#include <pthread.h>
#include <semaphore.h>

static sem_t never;

static void *wait(void *unused) {
    sem_wait(&never);
    return unused;
}

static void start(void) {
    pthread_t worker;
    pthread_create(&worker, 0, wait, 0);
#ifdef FIXED
    pthread_detach(worker);
#endif
}

int main(void) {
    sem_init(&never, 0, 0);
    start();
    return 0;
}
