/* Two threads add each other's number to their own. Only the perfect alternation reaches the
 * Fibonacci number that the assertion excludes. The argument is the number of additions. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int n = 5;
static volatile int x = 1, y = 1;

static void *add_to_x(void *unused)
{
    for (int i = 0; i < n; i++)
        x = x + y;
    return unused;
}

static void *add_to_y(void *unused)
{
    for (int i = 0; i < n; i++)
        y = y + x;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    if (argc > 1)
        n = atoi(argv[1]);
    int largest = 1, before = 1;
    for (int i = 0; i < 2 * n; i++) {
        int next = largest + before;
        before = largest;
        largest = next;
    }
    pthread_create(&s, 0, add_to_x, 0);
    pthread_create(&t, 0, add_to_y, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
#ifndef FIXED
    assert(x < largest && y < largest);
#else
    assert(x <= largest && y <= largest);
#endif
    return 0;
}
