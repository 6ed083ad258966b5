// Two threads add to a counter; fixed: under a mutex.
#include <pthread.h>

static int counter;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *unused) {
    (void)unused;
#ifdef FIXED
    pthread_mutex_lock(&lock);
    counter++;
    pthread_mutex_unlock(&lock);
#else
    counter++;
#endif
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, add, 0);
    pthread_create(&second, 0, add, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    (void)lock;
    return 0;
}
