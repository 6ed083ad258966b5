/* Order: a writer updates two fields under two different locks; a reader that comes in between
 * sees the first without the second. The argument is the number of writers. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t second_lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second;

static void *write_both(void *unused)
{
    pthread_mutex_lock(&first_lock);
    first = 1;
#ifdef FIXED
    pthread_mutex_lock(&second_lock);
    second = first + 1;
    pthread_mutex_unlock(&second_lock);
    pthread_mutex_unlock(&first_lock);
#else
    pthread_mutex_unlock(&first_lock);
    pthread_mutex_lock(&second_lock);
    second = first + 1;
    pthread_mutex_unlock(&second_lock);
#endif
    return unused;
}

static void *read_both(void *unused)
{
    pthread_mutex_lock(&first_lock);
    int x = first;
    pthread_mutex_unlock(&first_lock);
    if (x == 0)
        return unused;
    pthread_mutex_lock(&second_lock);
    int y = second;
    pthread_mutex_unlock(&second_lock);
    assert(y == x + 1);
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 1;
    pthread_t writers[128], reader;
    for (int i = 0; i < n; i++)
        pthread_create(&writers[i], 0, write_both, 0);
    pthread_create(&reader, 0, read_both, 0);
    for (int i = 0; i < n; i++)
        pthread_join(writers[i], 0);
    pthread_join(reader, 0);
    return 0;
}
