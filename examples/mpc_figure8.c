/* After Figure 8 of "Concurrency Verification with Maximal Path Causality" (ESEC/FSE 2018): the
 * error needs a branch of thread 1 that the first execution does not take, and then a schedule in
 * which thread 2 reads what is written there.
 *
 *     raddle cc -g -O1 -pthread mpc_figure8.c -o figure8 && raddle verify -- ./figure8
 */
#include "include/raddle.h"
#include <assert.h>
#include <pthread.h>

/* volatile: every access of the figure stays in the compiled program. */
static volatile int x;

static void *thread1(void *unused)
{
    int i, j;
    raddle_symbolic(&i, sizeof i, "i");
    raddle_symbolic(&j, sizeof j, "j");
    if (i > 0)
        return unused;
    if (j > 0)
        x = 2;
    return unused;
}

static void *thread2(void *unused)
{
    if (x == 2)
        assert(!"the error of line 5");
    return unused;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&t, NULL, thread2, NULL);
    pthread_create(&s, NULL, thread1, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return 0;
}
