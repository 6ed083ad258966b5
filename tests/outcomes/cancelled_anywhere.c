/* A thread is cancelled asynchronously: before any of its operations, a wait for a lock among them, or not
 * at all. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int count;

static void *adds(void *unused)
{
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    count++;
    return unused;
}

int main(void)
{
    pthread_t t;
    void *result;
    pthread_create(&t, NULL, adds, NULL);
    pthread_mutex_lock(&lock);
    count += 2;
    pthread_cancel(t);
    pthread_mutex_unlock(&lock);
    pthread_join(t, &result);
    return count * 2 + (result == PTHREAD_CANCELED);
}
