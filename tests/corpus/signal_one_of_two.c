/* Lost wake-up at shutdown: two workers wait, but the signal wakes only one of them. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static int stopping;

static void *worker(void *unused)
{
    pthread_mutex_lock(&lock);
    while (!stopping)
        pthread_cond_wait(&work, &lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, worker, 0);
    pthread_create(&b, 0, worker, 0);
    pthread_mutex_lock(&lock);
    stopping = 1;
#ifdef FIXED
    pthread_cond_broadcast(&work);
#else
    pthread_cond_signal(&work);
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
