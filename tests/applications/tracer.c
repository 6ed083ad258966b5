/* In the manner of ctrace, a library for debug output of threads: each thread has an entry in a
 * table, messages above the level (an input) are left out, and the output can be closed at any time.
 *
 * -DBUG=1: entries are made without the lock, so that one is lost. -DBUG=2: the output is looked at
 * before the lock is taken, and is closed between. -DBUG=4: closing takes the two locks in the other
 * order. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

enum { THREADS = 2 };

struct output {
    int lines;
};

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int entries;
static struct output *volatile output;
static int level;

static void enter(void)
{
    if (!(BUG & 1))
        pthread_mutex_lock(&table_lock);
    entries = entries + 1;
    if (!(BUG & 1))
        pthread_mutex_unlock(&table_lock);
}

static void print(int importance)
{
    if (importance > level)
        return;
    if ((BUG & 2) && !output)
        return;
    pthread_mutex_lock(&table_lock);
    pthread_mutex_lock(&output_lock);
    if ((BUG & 2) || output)
        output->lines++;
    pthread_mutex_unlock(&output_lock);
    pthread_mutex_unlock(&table_lock);
}

static void close_output(void)
{
    pthread_mutex_t *first = (BUG & 4) ? &output_lock : &table_lock;
    pthread_mutex_t *second = (BUG & 4) ? &table_lock : &output_lock;
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    output = 0;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *traced(void *importance)
{
    enter();
    print((int)(long)importance);
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct output *file = calloc(1, sizeof *file);
    output = file;
    raddle_symbolic(&level, sizeof level, "level");
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, traced, (void *)(i + 1));
    close_output();
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    assert(entries == THREADS);
    assert(file->lines <= THREADS);
    free(file);
    return 0;
}
