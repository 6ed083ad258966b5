/* Three threads write their numbers down in the order in which they come, and main looks at the
 * order: with ENDS it fails at one place for each order. Without, it ends well. Every
 * thread comes ROUNDS times (first argument): with many, no two random interleavings are the same.
 * There are THREADS threads (second argument, at most 3): with two, there are few interleavings. */
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
    assert(order != 1 * 4 + 2);
    assert(order != 2 * 4 + 1);
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
    int count = argc > 2 ? atoi(argv[2]) : 3;
    for (int i = 0; i < count; i++) {
        pthread_create(&threads[i], NULL, writer, &numbers[i]);
    }
    for (int i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
#ifdef ENDS
    judge();
#else
    (void)judge;
#endif
    return 0;
}
