/* Atomicity: two threads add to a counter without a lock; an update gets lost. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *add(void *unused)
{
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    counter = counter + 1;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, add, 0);
    pthread_create(&b, 0, add, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    (void)lock;
    assert(counter == 2);
    return 0;
}
