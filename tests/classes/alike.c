// So many threads do the same, once: operation, threads.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

static atomic_int word, held = 1;
static int plain;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, locked = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t read_locked = PTHREAD_RWLOCK_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT, done = PTHREAD_ONCE_INIT;
static pthread_spinlock_t spinlock;
static sem_t none, one, posted;

static void nothing(void) {}

static void exchange(int expected, int new) {
    atomic_compare_exchange_strong(&word, &expected, new);
}

static void handler(int number) { (void)number; }

static int operation;

static void *thread(void *number) {
    int mine = (int)(long)number + 1;
    switch (operation) {
    case 'a': exchange(5, mine); break;
    case 'b': exchange(0, 0); break;
    case 'c': atomic_exchange(&word, 0); break;
    case 'd': atomic_fetch_add(&word, 0); break;
    case 'e': atomic_fetch_or(&held, 1); break;
    case 'f': atomic_fetch_and(&held, 3); break;
    case 'g': atomic_store(&word, 0); break;
    case 'h': plain = 0; break;
    case 'i': pthread_mutex_trylock(&locked); break;
    case 'j': pthread_rwlock_trywrlock(&read_locked); break;
    case 'k': pthread_rwlock_tryrdlock(&rwlock); break;
    case 'l': sem_trywait(&none); break;
    case 'm': pthread_spin_trylock(&spinlock); break;
    case 'n': pthread_cond_signal(&condition); break;
    case 'o': pthread_cond_broadcast(&condition); break;
    case 'p': pthread_once(&done, nothing); break;
    // All change something, and the order is all the same.
    case 'q': pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock); break;
    case 'r': pthread_rwlock_tryrdlock(&rwlock); pthread_rwlock_unlock(&rwlock); break;
    case 's': sem_post(&posted); break;
    case 't': time(NULL); clock_gettime(CLOCK_MONOTONIC, &(struct timespec){0}); break;
    case 'u': raise(SIGUSR1); break;
    case 'v': raise(SIGUSR2); break;
    case 'w': raise(SIGURG); break;
    // One of them succeeds, and the others find that.
    case 'A': exchange(0, mine); break;
    case 'B': atomic_fetch_or(&word, 1); break;
    case 'C': pthread_mutex_trylock(&mutex); break;
    case 'D': pthread_rwlock_trywrlock(&rwlock); break;
    case 'E': sem_trywait(&one); break;
    case 'F': pthread_once(&once, nothing); break;
    }
    return NULL;
}

int main(int count, char **arguments) {
    pthread_t threads[8];
    operation = count > 2 ? arguments[1][0] : 'a';
    int n = count > 2 ? atoi(arguments[2]) : 2;
    sem_init(&none, 0, 0);
    sem_init(&one, 0, 1);
    sem_init(&posted, 0, 0);
    signal(SIGUSR1, handler);
    signal(SIGUSR2, SIG_IGN);
    pthread_spin_init(&spinlock, 0);
    pthread_spin_lock(&spinlock);
    pthread_mutex_lock(&locked);
    pthread_rwlock_rdlock(&read_locked);
    pthread_once(&done, nothing);
    for (long i = 0; i < n; i++) {
        pthread_create(&threads[i], NULL, thread, (void *)i);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
    return 0;
}
