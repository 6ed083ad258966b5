/* Deadlock with oneself: the consumer's path for an empty queue calls a function that takes the
 * lock which the consumer holds already. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int items, empty_seen;

static void report_empty(void)
{
#ifndef FIXED
    pthread_mutex_lock(&lock);
#endif
    empty_seen++;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
#endif
}

static void *produce(void *unused)
{
    pthread_mutex_lock(&lock);
    items++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *consume(void *unused)
{
    pthread_mutex_lock(&lock);
    if (items > 0)
        items--;
    else
        report_empty();
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t p, c;
    pthread_create(&p, 0, produce, 0);
    pthread_create(&c, 0, consume, 0);
    pthread_join(p, 0);
    pthread_join(c, 0);
    return 0;
}
