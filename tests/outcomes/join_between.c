/* The second thread is created after the first was joined: only main's own write is unordered
 * with the first. */
#include "outcome.h"

static volatile int x;

static void *two(void *unused)
{
    x = 2;
    return unused;
}

static void *plus_three(void *unused)
{
    x = x + 3;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, two, NULL);
    x = 1;
    pthread_join(t, NULL);
    pthread_create(&t, NULL, plus_three, NULL);
    pthread_join(t, NULL);
    return x;
}
