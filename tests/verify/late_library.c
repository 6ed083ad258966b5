/* One of the two paths of main hands a text that only main touches to a function of a library that
 * is not instrumented: the one on which main sees what -DWHEN says. */
#define _GNU_SOURCE
#include <argz.h>
#include <pthread.h>

/* volatile: every access stays in the compiled program. What the function reads without a model is
 * not known: far from the text lies what it cannot mean. */
static volatile char mine[4] = "1";
static volatile int flag __attribute__((aligned(4096)));

static void *writer(void *unused)
{
    flag = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, 0, writer, 0);
    int seen = flag;
    mine[0] = '2';
    if (seen == WHEN && argz_count((char *)mine, 2) > 1)
        return 1;
    pthread_join(t, 0);
    return 0;
}
