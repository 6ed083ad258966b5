/* Order: setters change two variables one after the other, a checker reads both in between.
 * The argument is the number of setters. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int a, b;

static void enter(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
}

static void leave(void)
{
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *set(void *unused)
{
    enter();
    a = 1;
    b = -1;
    leave();
    return unused;
}

static void *check(void *unused)
{
    enter();
    int x = a;
    int y = b;
    leave();
    assert((x == 0 && y == 0) || (x == 1 && y == -1));
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t setters[128], checker;
    (void)lock;
    for (int i = 0; i < n; i++)
        pthread_create(&setters[i], 0, set, 0);
    pthread_create(&checker, 0, check, 0);
    for (int i = 0; i < n; i++)
        pthread_join(setters[i], 0);
    pthread_join(checker, 0);
    return 0;
}
