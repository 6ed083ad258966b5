/* Deadlock: the consumer waits for the condition while it holds a second lock that the producer
 * needs before it can signal. */
#include <pthread.h>

static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int full;

static void *consume(void *unused)
{
#ifndef FIXED
    pthread_mutex_lock(&outer);
#endif
    pthread_mutex_lock(&inner);
    while (!full)
        pthread_cond_wait(&filled, &inner);
    full = 0;
    pthread_mutex_unlock(&inner);
#ifndef FIXED
    pthread_mutex_unlock(&outer);
#endif
    return unused;
}

static void *produce(void *unused)
{
    pthread_mutex_lock(&outer);
    pthread_mutex_lock(&inner);
    full = 1;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&inner);
    pthread_mutex_unlock(&outer);
    return unused;
}

int main(void)
{
    pthread_t c, p;
    pthread_create(&c, 0, consume, 0);
    pthread_create(&p, 0, produce, 0);
    pthread_join(c, 0);
    pthread_join(p, 0);
    return 0;
}
