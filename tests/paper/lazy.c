/* Lazy initialisation: the first thread that needs a block makes it, and the pointer to it is
 * looked at before the mutex is taken.
 *
 * The argument is the number of threads. -DBUG: nobody looks again under the mutex, so there can be
 * two blocks. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *volatile block;
static volatile int made;

static int *get(void)
{
    if (!block) {
        pthread_mutex_lock(&lock);
#ifndef BUG
        if (!block)
#endif
        {
            int *fresh = malloc(sizeof *fresh);
            *fresh = 7;
            made = made + 1;
            block = fresh;
        }
        pthread_mutex_unlock(&lock);
    }
    return block;
}

static void *thread(void *unused)
{
    assert(*get() == 7);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[8];
    int n = argc > 1 ? atoi(argv[1]) : 2;
    for (int i = 0; i < n; i++)
        pthread_create(&threads[i], 0, thread, 0);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], 0);
    assert(made == 1);
    free(block);
    return 0;
}
