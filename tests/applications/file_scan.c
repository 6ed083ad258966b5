/* In the manner of pfscan: one thread puts files into a queue of limited length, others take them
 * and look for a zero byte in their content (an input), which marks binary files.
 *
 * -DBUG=1: matches are counted without a lock. -DBUG=2: the end of the queue is told to one of the
 * scanners only. -DBUG=4: a scanner that was woken does not look again whether there is a file. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>

#ifndef BUG
#define BUG 0
#endif

enum { SCANNERS = 2, FILES = 2, BYTES = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static char content[FILES][BYTES];
static int put, taken, closed;
static volatile int matches;

static int next_file(void)
{
    int file = -1;
    pthread_mutex_lock(&lock);
    int woken = 0;
    while (taken == put && !closed && !((BUG & 4) && woken)) {
        pthread_cond_wait(&more, &lock);
        woken = 1;
    }
    if (taken < put || ((BUG & 4) && woken)) {
        assert(taken < put);
        file = taken++;
    }
    pthread_mutex_unlock(&lock);
    return file;
}

static void *scan(void *unused)
{
    int file;
    while ((file = next_file()) >= 0) {
        for (int i = 0; i < BYTES; i++) {
            if (content[file][i] != 0)
                continue;
            if (!(BUG & 1))
                pthread_mutex_lock(&count_lock);
            matches = matches + 1;
            if (!(BUG & 1))
                pthread_mutex_unlock(&count_lock);
        }
    }
    return unused;
}

int main(void)
{
    pthread_t threads[SCANNERS];
    raddle_symbolic(content, sizeof content, "content");
    for (int i = 0; i < SCANNERS; i++)
        pthread_create(&threads[i], 0, scan, 0);
    for (int i = 0; i < FILES; i++) {
        pthread_mutex_lock(&lock);
        put++;
        pthread_cond_signal(&more);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    closed = 1;
    if (BUG & 2)
        pthread_cond_signal(&more);
    else
        pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < SCANNERS; i++)
        pthread_join(threads[i], 0);
    int expected = 0;
    for (int i = 0; i < FILES * BYTES; i++)
        expected += content[0][i] == 0;
    assert(matches == expected);
    return 0;
}
