// Two threads add one each without a lock: visible only where plain accesses are points.
#include <assert.h>
#include <pthread.h>

#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define ENTER pthread_mutex_lock(&lock)
#define LEAVE pthread_mutex_unlock(&lock)
#else
#define ENTER (void)0
#define LEAVE (void)0
#endif

static long counter;

static void *add(void *unused) {
    ENTER;
    counter = counter + 1;
    LEAVE;
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, add, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(counter == 2);
    return 0;
}
