// Who holds a rwlock as a reader writes. Fixed: as a writer.
#include <pthread.h>

static int hits;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

static void *look(void *unused) {
#ifdef FIXED
    pthread_rwlock_wrlock(&lock);
#else
    pthread_rwlock_rdlock(&lock);
#endif
    hits++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, look, 0);
    pthread_create(&second, 0, look, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
