// The waiter reads the result behind the mutex; the signaller writes it after giving the mutex up.
#include <pthread.h>

static int ready, result;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

static void *produce(void *unused) {
    pthread_mutex_lock(&lock);
#ifdef FIXED
    result = 7;
#endif
    ready = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    result = 7;
#endif
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, 0, produce, 0);
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    volatile int seen = result;
    pthread_mutex_unlock(&lock);
    pthread_join(producer, 0);
    return seen > 7;
}
