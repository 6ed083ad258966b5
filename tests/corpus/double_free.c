/* Double free: the reference count is read and lowered in different critical sections, so that
 * two threads both take themselves for the last user. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int references = 2;
static char *object;

static void *release(void *unused)
{
    pthread_mutex_lock(&lock);
    references--;
#ifdef FIXED
    int last = references == 0;
    pthread_mutex_unlock(&lock);
#else
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int last = references == 0;
    pthread_mutex_unlock(&lock);
#endif
    if (last)
        free(object);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    object = malloc(16);
    pthread_create(&a, 0, release, 0);
    pthread_create(&b, 0, release, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
