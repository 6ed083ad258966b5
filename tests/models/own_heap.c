// The program's own heap, which the C library uses as well when it makes threads: two, or with ALONE one.
#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

static char heap[1 << 20] __attribute__((aligned(16)));
static size_t top;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void *malloc(size_t size)
{
    pthread_mutex_lock(&lock);
    size_t *block = (size_t *)(heap + top);
    top += (size + 31) & ~(size_t)15;
    pthread_mutex_unlock(&lock);
    *block = size;
    return block + 2;
}

void free(void *block) {}

void *calloc(size_t count, size_t size)
{
    return memset(malloc(count * size), 0, count * size);
}

void *realloc(void *block, size_t size)
{
    void *larger = malloc(size);
    size_t before = block ? ((size_t *)block)[-2] : 0;
    return memcpy(larger, block, before < size ? before : size);
}

static void *use(void *unused)
{
    char *mine = malloc(8);
    mine[0] = 1;
    assert(mine[0] == 1);
    return unused;
}

int main(void)
{
    pthread_t one, two;
    pthread_create(&one, 0, use, 0);
#ifndef ALONE
    pthread_create(&two, 0, use, 0);
    pthread_join(two, 0);
#endif
    pthread_join(one, 0);
    return 0;
}
