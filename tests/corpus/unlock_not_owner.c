/* Misuse: the clean-up path unlocks a mutex even when the attempt to lock it failed. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int updates;

static void *update(void *unused)
{
    int locked = pthread_mutex_trylock(&lock) == 0;
    if (locked)
        updates++;
#ifdef FIXED
    if (locked)
#endif
        pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, update, 0);
    pthread_create(&b, 0, update, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return updates > 2;
}
