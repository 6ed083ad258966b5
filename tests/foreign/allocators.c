// Blocks that are allocated by one thread and freed by another, in a heap that the program brings.
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#ifdef JEMALLOC
// Names of jemalloc's own; its blocks may go to free.
void *mallocx(size_t size, int flags);
#define BRING(size) mallocx(size, 0)
#elif defined MIMALLOC
void *mi_malloc(size_t size);
#define BRING(size) mi_malloc(size)
#else
#define BRING(size) malloc(size)
#endif

enum { BLOCKS = 20 };
static char *slots[BLOCKS];
static int filled, taken;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static void *producer(void *unused) {
    for (int i = 0; i < BLOCKS; i++) {
        char *block = i % 2 ? BRING(16u << i % 12) : malloc(16u << i % 12);
        memset(block, i, 16u << i % 12);
        pthread_mutex_lock(&lock);
        slots[filled++] = block;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *consumer(void *unused) {
    for (;;) {
        pthread_mutex_lock(&lock);
#ifdef FIXED
        while (taken == filled && taken < BLOCKS)
#else
        if (taken == filled && taken < BLOCKS)
#endif
            pthread_cond_wait(&more, &lock);
        if (taken >= BLOCKS) {
            pthread_cond_broadcast(&more);
            pthread_mutex_unlock(&lock);
            return unused;
        }
        int mine = taken++;
        if (taken == BLOCKS)
            pthread_cond_broadcast(&more);
        pthread_mutex_unlock(&lock);
        assert(slots[mine]);
        assert(slots[mine][15] == mine);
        slots[mine] = realloc(slots[mine], 9000);
        assert(slots[mine][15] == mine);
        free(slots[mine]);
    }
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, producer, 0);
    pthread_create(&threads[1], 0, consumer, 0);
    pthread_create(&threads[2], 0, consumer, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
