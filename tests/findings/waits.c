/* Deadlocks in every schedule, one for each argument. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t table = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t all;
static sem_t items;
static pthread_t ring[3];

__attribute__((noinline)) static void take(pthread_mutex_t *mutex) {
    pthread_mutex_lock(mutex);
}

static void *locks(void *second) {
    pthread_mutex_t *first = second ? &a : &b;
    take(first);
    pthread_barrier_wait(&all);
    take(second ? &b : &a);
    return NULL;
}

static void *readers(void *reads) {
    if (reads)
        pthread_rwlock_rdlock(&table);
    pthread_barrier_wait(&all);
    if (reads)
        sem_wait(&items);
    pthread_rwlock_wrlock(&table);
    return NULL;
}

static void *condition(void *unused) {
    (void)unused;
    take(&a);
    take(&m);
    pthread_cond_wait(&ready, &m);
    return NULL;
}

static void *joins(void *next) {
    pthread_barrier_wait(&all);
    pthread_join(ring[(size_t)next], NULL);
    return NULL;
}

static void start(void *(*routine)(void *), int threads, size_t first) {
    pthread_barrier_init(&all, NULL, threads);
    for (int i = 0; i < threads; i++)
        pthread_create(&ring[i], NULL, routine, (void *)((first + i) % 3));
    pthread_join(ring[0], NULL);
}

int main(int argc, char **argv) {
    sem_init(&items, 0, 1);
    switch (argc > 1 ? argv[1][0] : 0) {
    case 'l':
        start(locks, 2, 0);
        break;
    case 'r':
        sem_wait(&items);
        start(readers, 3, 1);
        break;
    case 'c':
        pthread_cond_signal(&ready);
        start(condition, 1, 0);
        break;
    case 's':
        take(&a);
        sem_wait(&items);
        sem_wait(&items);
        break;
    case 'j':
        start(joins, 3, 1);
        break;
    }
    return 0;
}
