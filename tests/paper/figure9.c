/* After figure 9 of "Concurrency Verification with Maximal Path Causality" (ESEC/FSE 2018): the sum
 * reaches 2 N only if in each pass of thread 1 an increment of thread 2 lies between its read and
 * its write, or none is lost at all.
 *
 * The argument is N. -DAFTER: the assertion stands behind thread 1's loop, as in the table; without
 * it, behind both threads. -DFIXED: it asks for what always holds. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#ifdef FIXED
#define HOLDS(value, n) ((value) <= 2 * (n))
#else
#define HOLDS(value, n) ((value) != 2 * (n))
#endif

static int n = 1;
/* volatile: every access of the figure stays in the compiled program. */
static volatile int x;

static void *thread1(void *unused)
{
    for (int i = 0; i < n; i++) {
        int tmp = x;
        tmp = tmp + 1;
        x = tmp;
        if (x == tmp)
            x = 0;
    }
#ifdef AFTER
    assert(HOLDS(x, n));
#endif
    return unused;
}

static void *thread2(void *unused)
{
    for (int i = 0; i < n; i++)
        x = x + 1;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    if (argc > 1)
        n = atoi(argv[1]);
    pthread_create(&s, 0, thread1, 0);
    pthread_create(&t, 0, thread2, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
#ifndef AFTER
    assert(HOLDS(x, n));
#endif
    return 0;
}
