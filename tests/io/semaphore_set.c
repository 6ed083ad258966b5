// Two semaphores of one set are locks, taken in different orders. Fixed: both in one operation.
#include <pthread.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/sem.h>

static int set;

static void change(int first, int by) {
    struct sembuf ops[2] = {{first, by, 0}, {1 - first, by, 0}};
#ifdef FIXED
    int failed = semop(set, ops, 2);
#else
    int failed = semop(set, ops, 1) || semop(set, ops + 1, 1);
#endif
    if (failed)
        exit(2);
}

static void *work(void *first) {
    change(first != 0, -1);
    change(first != 0, 1);
    return 0;
}

int main(void) {
    pthread_t one, two;
    set = semget(IPC_PRIVATE, 2, 0600);
    change(0, 1);
    pthread_create(&one, 0, work, 0);
    pthread_create(&two, 0, work, &set);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return semctl(set, 0, IPC_RMID);
}
