// An attempt at the semaphore that fails shows nothing of what was before. Fixed: it waits.
#include <pthread.h>
#include <sys/ipc.h>
#include <sys/sem.h>

int set, result;

static void *produce(void *unused) {
    struct sembuf post = {0, 1, 0};
    result = 1;
    semop(set, &post, 1);
    return unused;
}

int main(void) {
    struct sembuf wait = {0, -1, IPC_NOWAIT};
    pthread_t producer;
    set = semget(IPC_PRIVATE, 1, 0600);
    pthread_create(&producer, 0, produce, 0);
#ifdef FIXED
    wait.sem_flg = 0;
#endif
    semop(set, &wait, 1);
    int found = result;
    pthread_join(producer, 0);
    return semctl(set, 0, IPC_RMID) || found > 1;
}
