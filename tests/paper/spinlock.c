/* A lock that is one word, taken by compare-exchange. A thread tries a limited number of times, so
 * that every execution ends; it writes an input of its own in its section.
 *
 * Arguments: threads, tries of each. -DBUG: the word is looked at, then set. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static int tries = 5;
static atomic_int word;
static volatile int owned;

static int take(void)
{
#ifdef BUG
    if (atomic_load(&word))
        return 0;
    atomic_store(&word, 1);
    return 1;
#else
    int expected = 0;
    return atomic_compare_exchange_strong(&word, &expected, 1);
#endif
}

static void *thread(void *unused)
{
    int value;
    raddle_symbolic(&value, sizeof value, "value");
    for (int k = 0; k < tries; k++) {
        if (take()) {
            owned = value;
            assert(owned == value);
            atomic_store(&word, 0);
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
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], 0);
    return 0;
}
