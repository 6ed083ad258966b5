/* Threads that change one number under two different mutexes: the writer of a value finds another.
 *
 * The argument is how many threads use the other mutex. -DFIXED: all use one. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t right = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t wrong = PTHREAD_MUTEX_INITIALIZER;
static volatile int data;

static void *check(void *unused)
{
    pthread_mutex_lock(&right);
    int before = data;
    data = data + 1;
    assert(data == before + 1);
    pthread_mutex_unlock(&right);
    return unused;
}

static void *change(void *unused)
{
#ifdef FIXED
    pthread_mutex_t *mutex = &right;
#else
    pthread_mutex_t *mutex = &wrong;
#endif
    pthread_mutex_lock(mutex);
    data = data + 1;
    pthread_mutex_unlock(mutex);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[32];
    int n = argc > 1 ? atoi(argv[1]) : 2;
    (void)wrong;
    for (int i = 0; i <= n; i++)
        pthread_create(&threads[i], 0, i == 0 ? check : change, 0);
    for (int i = 0; i <= n; i++)
        pthread_join(threads[i], 0);
    return 0;
}
