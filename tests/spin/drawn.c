// Waits that give up when a generator, which no hook sees, says so: by a flag that
// nobody sets, or (-DTRY) by attempts at a lock. With -DBUG the lock is left behind, and with
// -DENDLESS nobody gives up.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int flag;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((disable_sanitizer_instrumentation, noinline)) static int draw(void) {
    static unsigned state = 1;
    state = state * 1103515245 + 12345;
    return state >> 16 & 0x7fff;
}

static int goes_on(void) {
#ifdef ENDLESS
    return draw() | 1;
#else
    return draw() % 300;
#endif
}

static void *wait(void *unused) {
#ifdef TRY
    do {
        if (pthread_mutex_trylock(&lock) == 0)
            pthread_mutex_unlock(&lock);
    } while (goes_on());
#else
    while (!atomic_load(&flag) && goes_on()) {
    }
#endif
#ifdef BUG
    pthread_mutex_lock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t others[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&others[i], 0, wait, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], 0);
    return 0;
}
