/* In the manner of Apache's buffered log: a request appends its line, whose length depends on the
 * request (an input), and the buffer is written out when there is no room.
 *
 * -DBUG: nobody locks, so that a line lands on another one, or behind the buffer's end. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>

enum { ROOM = 8, REQUESTS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char buffer[ROOM];
static int used, written;

static void append(int length)
{
    if (length + used > ROOM) {
        written += used;
        used = 0;
    }
    int start = used;
    for (int i = 0; i < length; i++)
        buffer[start + i] = 'x';
    used = start + length;
}

static void *request(void *lengths)
{
    unsigned char size;
    raddle_symbolic(&size, sizeof size, "size");
    int length = 3 + size % 4;
#ifndef BUG
    pthread_mutex_lock(&lock);
#endif
    append(length);
#ifndef BUG
    pthread_mutex_unlock(&lock);
#endif
    *(int *)lengths = length;
    return 0;
}

int main(void)
{
    pthread_t threads[REQUESTS];
    int lengths[REQUESTS], sum = 0;
    (void)lock;
    for (int i = 0; i < REQUESTS; i++)
        pthread_create(&threads[i], 0, request, &lengths[i]);
    for (int i = 0; i < REQUESTS; i++) {
        pthread_join(threads[i], 0);
        sum += lengths[i];
    }
    assert(written + used == sum);
    return 0;
}
