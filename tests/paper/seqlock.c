/* The sequence lock of Linux: a writer makes the counter odd, changes two words, and makes it even
 * again; a reader takes what it read only if the counter was even and is the same afterwards.
 *
 * Arguments: threads (the first is the writer), passes of each. -DBUG: the reader does not look at
 * the counter again. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int passes = 3;
static atomic_int sequence;
static volatile int a, b;

static void *writer(void *unused)
{
    for (int k = 1; k <= passes; k++) {
        atomic_fetch_add(&sequence, 1);
        a = k;
        b = k;
        atomic_fetch_add(&sequence, 1);
    }
    return unused;
}

static void *reader(void *unused)
{
    for (int k = 0; k < passes; k++) {
        int before = atomic_load(&sequence);
        if (before & 1)
            continue;
        int first = a, second = b;
#ifndef BUG
        if (atomic_load(&sequence) != before)
            continue;
#endif
        assert(first == second);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    int count = argc > 1 ? atoi(argv[1]) : 3;
    if (argc > 2)
        passes = atoi(argv[2]);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], 0, i == 0 ? writer : reader, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    return 0;
}
