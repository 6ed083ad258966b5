/* Atomicity (mysqllog): rotating a log closes it and opens the next one; an insert between the two
 * finds the log closed and is not written down. */
#include <assert.h>
#include <pthread.h>

enum { CLOSED, OPEN };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int log_state = OPEN, logged, inserted;

static void set_state(int state)
{
    pthread_mutex_lock(&lock);
    log_state = state;
    pthread_mutex_unlock(&lock);
}

static void *rotate(void *unused)
{
#ifdef FIXED
    (void)set_state;
    pthread_mutex_lock(&lock);
    log_state = CLOSED;
    log_state = OPEN;
    pthread_mutex_unlock(&lock);
#else
    set_state(CLOSED);
    set_state(OPEN);
#endif
    return unused;
}

static void *insert(void *unused)
{
    for (int i = 0; i < 3; i++) {
        pthread_mutex_lock(&lock);
        inserted++;
        if (log_state == OPEN)
            logged++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, insert, 0);
    pthread_create(&b, 0, rotate, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(logged == inserted);
    return 0;
}
