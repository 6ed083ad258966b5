/* Dekker's mutual exclusion. Each thread looks at the other's wish and at the turn a limited number
 * of times and then gives up, so that every execution ends.
 *
 * The argument is how many looks both threads have together. -DBUG: a thread announces its wish only
 * after its first look. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int looks = 5;
static volatile int wants[2], turn, inside;

static int enter(int self)
{
    int other = 1 - self;
    int left = looks;
#ifndef BUG
    wants[self] = 1;
#endif
    while (wants[other]) {
        if (left-- == 0)
            return 0;
        if (turn == other) {
            wants[self] = 0;
            while (turn == other)
                if (left-- == 0)
                    return 0;
            wants[self] = 1;
        }
    }
#ifdef BUG
    wants[self] = 1;
#endif
    return 1;
}

static void *thread(void *argument)
{
    int self = (int)(long)argument;
    if (enter(self)) {
        inside = self;
        assert(inside == self);
        turn = 1 - self;
    }
    wants[self] = 0;
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc > 1)
        looks = atoi(argv[1]) / 2;
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, thread, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
