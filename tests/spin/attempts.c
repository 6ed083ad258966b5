// Waits by attempts at a read-write lock that a writer holds, to read it (-DREADS) or to write it, or
// for the count of a semaphore (-DCOUNTS), by two threads (-DTWO) or one. With -DWRONG nobody lets
// them in.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static volatile int data;

static void *enter(void *unused) {
#ifdef COUNTS
    int count;
    do
        sem_getvalue(&semaphore, &count);
    while (count == 0);
#elif defined(READS)
    while (pthread_rwlock_tryrdlock(&lock)) {
    }
    data = data ? data : 1;
    pthread_rwlock_unlock(&lock);
#else
    while (pthread_rwlock_trywrlock(&lock)) {
    }
    data++;
    pthread_rwlock_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t others[2];
    int many = 1;
#ifdef TWO
    many = 2;
#endif
    sem_init(&semaphore, 0, 0);
    pthread_rwlock_wrlock(&lock);
    for (int i = 0; i < many; i++)
        pthread_create(&others[i], 0, enter, 0);
#ifndef WRONG
    pthread_rwlock_unlock(&lock);
    sem_post(&semaphore);
    sem_post(&semaphore);
#endif
    for (int i = 0; i < many; i++)
        pthread_join(others[i], 0);
    return 0;
}
