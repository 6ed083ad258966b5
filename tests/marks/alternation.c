/* Two threads count in one variable (Figure 9 of the paper on maximal path causality). The assertion
 * fails for one alternation only: every round of the second thread has to fall between the write of
 * the first thread's same round and its check. The argument is the number of rounds. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int n = 4;
static volatile int x;

static void *first(void *unused)
{
    for (int i = 0; i < n; i++) {
        int t = x;
        t = t + 1;
        x = t;
        if (x == t)
            x = 0;
    }
#ifndef FIXED
    assert(x != 2 * n);
#else
    assert(x != 2 * n + 1);
#endif
    return unused;
}

static void *second(void *unused)
{
    for (int i = 0; i < n; i++)
        x++;
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    if (argc > 1)
        n = atoi(argv[1]);
    pthread_create(&s, 0, first, 0);
    pthread_create(&t, 0, second, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
