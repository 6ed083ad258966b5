/* Figure 1 of "Concurrency Verification with Maximal Path Causality" (ESEC/FSE 2018): the error
 * needs an input of at least 100 and a schedule in which thread 3 reads it.
 *
 *     raddle cc -g -O1 -pthread mpc_figure1.c -o figure1 && raddle verify -- ./figure1
 */
#include "include/raddle.h"
#include <assert.h>
#include <pthread.h>

/* volatile: every access of the figure stays in the compiled program. */
static volatile int x, y;

static void *thread1(void *unused)
{
    int i;
    raddle_symbolic(&i, sizeof i, "i");
    x = i;
    x = 2;
    return unused;
}

static void *thread2(void *unused)
{
    int j;
    raddle_symbolic(&j, sizeof j, "j");
    x = j;
    x = 4;
    return unused;
}

static void *thread3(void *unused)
{
    if (x >= 100)
        assert(!"the error of line 8");
    else
        y = 2;
    return unused;
}

int main(void)
{
    pthread_t t[3];
    pthread_create(&t[0], NULL, thread1, NULL);
    pthread_create(&t[1], NULL, thread2, NULL);
    pthread_create(&t[2], NULL, thread3, NULL);
    for (int k = 0; k < 3; k++)
        pthread_join(t[k], NULL);
    return 0;
}
