// Locks are taken in both orders, but a flag under a third lock lets only one thread do so at a
// time: the deadlock is possible by the locks alone, and no execution has it.
#include <pthread.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static int busy;

static void enter(void) {
    pthread_mutex_lock(&gate);
    while (busy)
        pthread_cond_wait(&freed, &gate);
    busy = 1;
    pthread_mutex_unlock(&gate);
}

static void leave(void) {
    pthread_mutex_lock(&gate);
    busy = 0;
    pthread_cond_signal(&freed);
    pthread_mutex_unlock(&gate);
}

static void *both(void *reversed) {
    enter();
    pthread_mutex_lock(reversed ? &b : &a);
    pthread_mutex_lock(reversed ? &a : &b);
    pthread_mutex_unlock(reversed ? &a : &b);
    pthread_mutex_unlock(reversed ? &b : &a);
    leave();
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, both, 0);
    pthread_create(&second, 0, both, &a);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
