/* Atomicity (updatetimer): two threads find that there is no timer and both make one; the first
 * one's is lost. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int timers[2], used;
static int *timer;

static void *update(void *unused)
{
    pthread_mutex_lock(&lock);
    int missing = timer == 0;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (missing)
        timer = &timers[used++];
    (*timer)++;
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
    assert(*timer == 2);
    return 0;
}
