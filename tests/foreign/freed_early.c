// One thread frees what another still reads.
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

static int *shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *unused) {
    pthread_mutex_lock(&lock);
    int *block = shared;
#ifdef FIXED
    if (block)
        printf("%d\n", block[1]);
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    sched_yield();
    if (block)
        printf("%d\n", block[1]);
#endif
    return unused;
}

static void *owner(void *unused) {
    pthread_mutex_lock(&lock);
    int *block = shared;
    shared = NULL;
    pthread_mutex_unlock(&lock);
    free(block);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    shared = calloc(2, sizeof *shared);
    pthread_create(&threads[0], 0, reader, 0);
    pthread_create(&threads[1], 0, owner, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
