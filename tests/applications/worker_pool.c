/* In the manner of Apache's worker pool: memory of finished requests lies on a list without a lock,
 * for the next request; a listener waits until a worker is idle.
 *
 * -DBUG=1: a block that is taken from the list is given back to the heap instead of being kept for
 * the next request, and its link is read by another thread that has seen it before. -DBUG=2: the
 * listener looks whether a worker is idle before it takes the lock. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

enum { WORKERS = 2 };

struct block {
    struct block *next;
    int owner;
};

static _Atomic(struct block *) recycled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t someone_idle = PTHREAD_COND_INITIALIZER;
static volatile int idle;

static struct block *take(void)
{
    struct block *first = atomic_load(&recycled);
    for (int tries = 0; first && tries < 2; tries++) {
        if (atomic_compare_exchange_strong(&recycled, &first, first->next))
            return first;
    }
    return 0;
}

static void *worker(void *self)
{
    struct block *block = take();
    if (block) {
        block->owner = (int)(long)self;
        assert(block->owner == (int)(long)self);
        if (BUG & 1)
            free(block);
    }
    pthread_mutex_lock(&lock);
    idle = idle + 1;
    pthread_cond_signal(&someone_idle);
    pthread_mutex_unlock(&lock);
    return 0;
}

static void wait_for_worker(void)
{
    if (BUG & 2) {
        if (idle == 0) {
            pthread_mutex_lock(&lock);
            pthread_cond_wait(&someone_idle, &lock);
            pthread_mutex_unlock(&lock);
        }
        return;
    }
    pthread_mutex_lock(&lock);
    while (idle == 0)
        pthread_cond_wait(&someone_idle, &lock);
    pthread_mutex_unlock(&lock);
}

int main(void)
{
    pthread_t threads[WORKERS];
    struct block *second = calloc(1, sizeof *second), *first = calloc(1, sizeof *first);
    first->next = second;
    atomic_store(&recycled, first);
    for (long i = 0; i < WORKERS; i++)
        pthread_create(&threads[i], 0, worker, (void *)(i + 1));
    wait_for_worker();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
