/* The shape of Figure 2 of the MPC paper with a status instead of the crash and a single pass of
 * its loop. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, y, reached;

static void *one(void *unused)
{
    int i = input(0, 2, 4);
    if (i == 3) {
        pthread_mutex_lock(&lock);
        x = x + 1;
        y = y + 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *two(void *unused)
{
    x = 5;
    if (x == 6)
        reached = y == 1 ? 2 : 1;
    return unused;
}

int main(void)
{
    run2(one, two);
    return reached;
}
