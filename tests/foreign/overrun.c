// A check and a write with nothing between them that would hold: one element too many.
#include <pthread.h>
#include <stdlib.h>

static int *array, length = 2, filled;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int full(void) {
    pthread_mutex_lock(&lock);
    int result = filled == length;
    pthread_mutex_unlock(&lock);
    return result;
}

static void put(int value) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (filled < length)
#endif
        array[filled++] = value;
    pthread_mutex_unlock(&lock);
}

static void *fill(void *unused) {
    while (!full())
        put(1);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    array = malloc(length * sizeof *array);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, fill, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    free(array);
    return 0;
}
