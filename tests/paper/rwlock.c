/* The counting reader-writer lock of Linux: a reader takes one unit of a bias, a writer all of it;
 * who goes below zero gives back and has failed. Threads try a limited number of times.
 *
 * Arguments: threads (the first is a writer, the others readers), tries of each. -DBUG: a reader
 * goes in although it got below zero. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { BIAS = 0x100000 };

static int tries = 5;
static atomic_int units = BIAS;
static volatile int data;

static int take(int wanted)
{
    int before = atomic_fetch_sub(&units, wanted);
#ifdef BUG
    if (wanted == 1)
        return 1;
#endif
    if (before >= wanted)
        return 1;
    atomic_fetch_add(&units, wanted);
    return 0;
}

static void *reader(void *unused)
{
    for (int k = 0; k < tries; k++) {
        if (take(1)) {
            int first = data;
            assert(data == first);
            atomic_fetch_add(&units, 1);
        }
    }
    return unused;
}

static void *writer(void *unused)
{
    for (int k = 0; k < tries; k++) {
        if (take(BIAS)) {
            data = data + 1;
            atomic_fetch_add(&units, BIAS);
        }
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    int count = argc > 1 ? atoi(argv[1]) : 2;
    if (argc > 2)
        tries = atoi(argv[2]);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], 0, i == 0 ? writer : reader, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    return 0;
}
