/* In the manner of aget, which loads a file in several parts at once: each thread receives its part
 * in pieces whose sizes the network decides (inputs). When the user interrupts, a last thread writes
 * down how far every part has come, to go on from there later.
 *
 * -DBUG: it looks at the parts and at their sum without the lock that the others hold. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>

enum { PARTS = 2, LENGTH = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int received[PARTS], total;

static int piece(int most)
{
    char small;
    raddle_symbolic(&small, sizeof small, "small");
    return small || most == 1 ? 1 : 2;
}

static void *load(void *argument)
{
    long part = (long)argument;
    int left = LENGTH;
    while (left > 0) {
        int size = piece(left);
        left -= size;
        pthread_mutex_lock(&lock);
        received[part] += size;
        total += size;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

static void *interrupted(void *unused)
{
    int saved[PARTS], sum = 0;
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    int so_far = total;
    for (int part = 0; part < PARTS; part++)
        saved[part] = received[part];
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    for (int part = 0; part < PARTS; part++)
        sum += saved[part];
    assert(sum == so_far);
    return unused;
}

int main(void)
{
    pthread_t threads[PARTS], last;
    for (long part = 0; part < PARTS; part++)
        pthread_create(&threads[part], 0, load, (void *)part);
    pthread_create(&last, 0, interrupted, 0);
    for (int part = 0; part < PARTS; part++)
        pthread_join(threads[part], 0);
    pthread_join(last, 0);
    assert(total == PARTS * LENGTH);
    return 0;
}
