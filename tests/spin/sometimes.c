// A wait without end if the other thread was first; else it gives up when the C library's generator,
// which no hook sees, says so. With -DALIKE it does so either way.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

atomic_int flag, first;

static int goes_on(int endless) {
    return rand() % 300 || endless;
}

static void *wait(void *unused) {
    int endless = atomic_load(&first);
#ifdef ALIKE
    endless = 0;
#endif
    while (!atomic_load(&flag) && goes_on(endless)) {
    }
    return unused;
}

static void *come(void *unused) {
    atomic_store(&first, 1);
    return unused;
}

int main(void) {
    pthread_t others[2];
    pthread_create(&others[0], 0, wait, 0);
    pthread_create(&others[1], 0, come, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], 0);
    return 0;
}
