/* An input is handed over under a lock and judged by arithmetic on it. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x, verdict;

static void *giver(void *unused)
{
    int i = input(0, -2, 3);
    pthread_mutex_lock(&lock);
    x = i * 3 - 4;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *taker(void *unused)
{
    pthread_mutex_lock(&lock);
    int v = x;
    pthread_mutex_unlock(&lock);
    if (v < 0)
        verdict = v < -5 ? 1 : 2;
    else
        verdict = v % 2 ? 3 : 4;
    return unused;
}

int main(void)
{
    run2(giver, taker);
    return verdict;
}
