/* After Figure 2 of "Concurrency Verification with Maximal Path Causality" (ESEC/FSE 2018),
 * written from the text's description of its threads, branches and paths: the crash needs i = 3,
 * j >= 2 and one of few schedules.
 *
 *     raddle cc -g -O1 -pthread mpc_figure2.c -o figure2 && raddle verify -- ./figure2
 *
 * The paper's strategy 1 misses it (`--strategy mpc-s1`), as its table 1 says.
 *
 * -DFIXED leaves the crash out; `raddle verify` then ends with "verified". -DEXTRA=N adds N threads
 * as in the paper's variants M_N (section 4.1). The loop makes at most two passes, as there. */
#include "include/raddle.h"
#include <pthread.h>

#ifndef EXTRA
#define EXTRA 0
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* volatile: every access of the figure stays in the compiled program. */
static volatile int x, y;

static int input(const char *name)
{
    int value;
    raddle_symbolic(&value, sizeof value, name);
    return value;
}

static void *thread1(void *unused)
{
    int i = input("i");
    x = 2;
    if (i == 3) {
        pthread_mutex_lock(&lock);
        y = 0;
        x = x + 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *thread2(void *unused)
{
    x = 5;
    if (x == EXTRA + 101) {
        if (y == 2) {
#ifndef FIXED
            __builtin_trap();
#endif
        }
    }
    return unused;
}

static void *thread3(void *unused)
{
    x = 100;
    int j = input("j");
    for (int k = 0; k < 2 && k < j; k++) {
        pthread_mutex_lock(&lock);
        y = y + 1;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *extra(void *unused)
{
    int k = input("k");
    if (k == 10)
        x = x + 1;
    return unused;
}

int main(void)
{
    void *(*roles[3])(void *) = {thread1, thread2, thread3};
    pthread_t t[3 + EXTRA];
    for (int n = 0; n < 3 + EXTRA; n++)
        pthread_create(&t[n], NULL, n < 3 ? roles[n] : extra, NULL);
    for (int n = 0; n < 3 + EXTRA; n++)
        pthread_join(t[n], NULL);
    return 0;
}
