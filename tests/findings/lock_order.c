// Three threads take three locks in a circle. Fixed: in one order.
#include <pthread.h>

static pthread_mutex_t locks[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};

static void *both(void *which) {
    int me = (int)(long)which;
    int first = me, second = (me + 1) % 3;
#ifdef FIXED
    if (first > second) {
        first = 0;
        second = 2;
    }
#endif
    pthread_mutex_lock(&locks[first]);
    pthread_mutex_lock(&locks[second]);
    pthread_mutex_unlock(&locks[second]);
    pthread_mutex_unlock(&locks[first]);
    return 0;
}

int main(void) {
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, both, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    return 0;
}
