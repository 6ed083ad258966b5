/* Deadlock: two threads take the same two locks in opposite orders. */
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;

static void *forwards(void *unused)
{
    pthread_mutex_lock(&a);
    pthread_mutex_lock(&b);
    pthread_mutex_unlock(&b);
    pthread_mutex_unlock(&a);
    return unused;
}

static void *backwards(void *unused)
{
#ifdef FIXED
    return forwards(unused);
#else
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
    pthread_mutex_unlock(&b);
    return unused;
#endif
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, forwards, 0);
    pthread_create(&t, 0, backwards, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return 0;
}
