/* Missed wake-up: the flag is checked in one critical section and waited for in the next; the
 * signal falls between the two. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stopped = PTHREAD_COND_INITIALIZER;
static int stop;

static void *request_stop(void *unused)
{
    pthread_mutex_lock(&lock);
    stop = 1;
    pthread_cond_broadcast(&stopped);
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
#ifdef FIXED
    while (!stop)
        pthread_cond_wait(&stopped, &lock);
#else
    int must_wait = !stop;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    if (must_wait)
        pthread_cond_wait(&stopped, &lock);
#endif
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, worker, 0);
    pthread_create(&r, 0, request_stop, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
