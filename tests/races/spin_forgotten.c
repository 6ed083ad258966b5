// One of two threads forgets the spin lock.
#include <pthread.h>

static int total;
static pthread_spinlock_t lock;

static void *add(void *careful) {
    if (careful)
        pthread_spin_lock(&lock);
    total++;
    if (careful)
        pthread_spin_unlock(&lock);
    return 0;
}

int main(void) {
    pthread_t first, second;
    pthread_spin_init(&lock, 0);
    pthread_create(&first, 0, add, &total);
#ifdef FIXED
    pthread_create(&second, 0, add, &total);
#else
    pthread_create(&second, 0, add, 0);
#endif
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
