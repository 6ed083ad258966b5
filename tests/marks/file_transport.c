/* Deadlock (filetransport): suspending a transport holds its monitor and asks the service, which
 * holds its own lock while it calls back into the transport. */
#include <pthread.h>

static pthread_mutex_t monitor = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t service = PTHREAD_MUTEX_INITIALIZER;
static int suspended, dispatched;

static void *suspend(void *unused)
{
#ifdef FIXED
    pthread_mutex_lock(&service);
    pthread_mutex_lock(&monitor);
#else
    pthread_mutex_lock(&monitor);
    pthread_mutex_lock(&service);
#endif
    suspended++;
    pthread_mutex_unlock(&service);
    pthread_mutex_unlock(&monitor);
    return unused;
}

static void *dispatch(void *unused)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&service);
        dispatched++;
        if (i == 1) {
            pthread_mutex_lock(&monitor);
            suspended = 0;
            pthread_mutex_unlock(&monitor);
        }
        pthread_mutex_unlock(&service);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, suspend, 0);
    pthread_create(&b, 0, dispatch, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
