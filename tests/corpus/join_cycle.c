/* Deadlock: three threads join one another in a ring when they find the ring complete. In the
 * fixed version the last one joins nobody. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_t ring[3];
static int complete;

static void *member(void *number)
{
    long i = (long)number;
    pthread_mutex_lock(&lock);
    int joins = complete;
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    if (i == 2)
        joins = 0;
#endif
    if (joins)
        pthread_join(ring[(i + 1) % 3], 0);
    return 0;
}

int main(void)
{
    for (long i = 0; i < 3; i++)
        pthread_create(&ring[i], 0, member, (void *)i);
    pthread_mutex_lock(&lock);
    complete = 1;
    pthread_mutex_unlock(&lock);
    pthread_exit(0);
}
