/* Two threads take two locks in opposite order, behind a loop of 2 to the power of N local paths.
 * With -DFIXED they take them in the same order. The argument is N. */
#include <pthread.h>
#include <stdlib.h>

#ifdef FIXED
#define SECOND(x, y) x, y
#else
#define SECOND(x, y) y, x
#endif

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static int n = 1;
/* volatile: every access stays in the compiled program. */
static volatile int x, odd;

static void both(pthread_mutex_t *first, pthread_mutex_t *second)
{
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *looks(void *unused)
{
    both(&a, &b);
    for (int i = 0; i < n; i++)
        if (x & 1)
            odd++;
    return unused;
}

static void *counts(void *unused)
{
    for (int i = 0; i < n; i++)
        x = x + 1;
    both(SECOND(&a, &b));
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t s, t;
    if (argc > 1)
        n = atoi(argv[1]);
    pthread_create(&s, 0, looks, 0);
    pthread_create(&t, 0, counts, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
