/* Lifetime: the parent passes the address of its loop counter to the threads that it creates; they
 * read it after it has changed. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seen[3];

static void *note(void *number)
{
#ifdef FIXED
    int i = (int)(long)number;
#else
    int i = *(volatile int *)number;
#endif
    pthread_mutex_lock(&lock);
    if (i < 3)
        seen[i]++;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    int i;
    for (i = 0; i < 3; i++) {
#ifdef FIXED
        pthread_create(&threads[i], 0, note, (void *)(long)i);
#else
        pthread_create(&threads[i], 0, note, &i);
#endif
    }
    for (int k = 0; k < 3; k++)
        pthread_join(threads[k], 0);
    for (int k = 0; k < 3; k++)
        assert(seen[k] == 1);
    return 0;
}
