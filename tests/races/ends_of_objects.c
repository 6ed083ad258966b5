// A synchronisation object begins or ends while another thread uses it, and nothing keeps the two in
// order. CASE says which object. Fixed: it begins before the thread, and ends after it.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

#ifndef CASE
#define CASE 0
#endif
#define ENDS (CASE % 2)

static struct shared {
    pthread_cond_t changed;
    pthread_mutex_t lock;
    sem_t count;
    pthread_rwlock_t table;
    pthread_spinlock_t word;
    pthread_barrier_t alone;
} *shared;

static void begin(void) {
    switch (CASE / 2) {
    case 0: pthread_cond_init(&shared->changed, 0); break;
    case 1: pthread_mutex_init(&shared->lock, 0); break;
    case 2: sem_init(&shared->count, 0, 0); break;
    case 3: pthread_rwlock_init(&shared->table, 0); break;
    case 4: pthread_spin_init(&shared->word, 0); break;
    case 5: pthread_barrier_init(&shared->alone, 0, 1); break;
    case 6: pthread_mutex_init(&shared->lock, 0); break;
    }
}

static void *use(void *unused) {
    switch (CASE / 2) {
    case 0: pthread_cond_broadcast(&shared->changed); break;
    case 1: pthread_mutex_lock(&shared->lock); pthread_mutex_unlock(&shared->lock); break;
    case 2: sem_post(&shared->count); break;
    case 3: pthread_rwlock_rdlock(&shared->table); pthread_rwlock_unlock(&shared->table); break;
    case 4: pthread_spin_lock(&shared->word); pthread_spin_unlock(&shared->word); break;
    case 5: pthread_barrier_wait(&shared->alone); break;
    case 6: pthread_mutex_lock(&shared->lock); pthread_mutex_unlock(&shared->lock); break;
    }
    return unused;
}

static void end(void) {
    switch (CASE / 2) {
    case 0: pthread_cond_destroy(&shared->changed); break;
    case 1: pthread_mutex_destroy(&shared->lock); break;
    case 2: sem_destroy(&shared->count); break;
    case 3: pthread_rwlock_destroy(&shared->table); break;
    case 4: pthread_spin_destroy(&shared->word); break;
    case 5: pthread_barrier_destroy(&shared->alone); break;
    case 6: free(shared); break;
    }
}

int main(void) {
    pthread_t user;
    shared = calloc(1, sizeof *shared);
    if (ENDS)
        begin();
#ifdef FIXED
    if (!ENDS)
        begin();
#endif
    pthread_create(&user, 0, use, 0);
#ifdef FIXED
    pthread_join(user, 0);
    if (ENDS)
        end();
#else
    ENDS ? end() : begin();
    pthread_join(user, 0);
#endif
    return 0;
}
