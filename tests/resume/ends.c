/* Three threads write their numbers down in the order in which they come, and main looks at the
 * order: with ENDS it fails at one of six places, one for each order. Without, it ends well, after
 * so many interleavings that no two random ones are the same. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int order;
static int rounds;

static void note(int number) {
    pthread_mutex_lock(&lock);
    order = order * 4 + number;
    pthread_mutex_unlock(&lock);
}

static void *writer(void *arg) {
    for (int i = 0; i < rounds; i++) {
        note(*(int *)arg);
    }
    return NULL;
}

static void judge(void) {
    assert(order != 1 * 16 + 2 * 4 + 3);
    assert(order != 1 * 16 + 3 * 4 + 2);
    assert(order != 2 * 16 + 1 * 4 + 3);
    assert(order != 2 * 16 + 3 * 4 + 1);
    assert(order != 3 * 16 + 1 * 4 + 2);
    assert(order != 3 * 16 + 2 * 4 + 1);
}

int main(int argc, char **argv) {
    static int numbers[] = {1, 2, 3};
    pthread_t threads[3];
    rounds = argc > 1 ? atoi(argv[1]) : 1;
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
#ifdef ENDS
    judge();
#else
    (void)judge;
#endif
    return 0;
}
