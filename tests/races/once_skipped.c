// Who comes second looks at the flag instead of going through the once control.
#include <pthread.h>

static int table;
static pthread_once_t control = PTHREAD_ONCE_INIT;

static void fill(void) { table = 1; }

static void *work(void *unused) {
    pthread_once(&control, fill);
    return unused;
}

int main(void) {
    pthread_t worker;
    pthread_create(&worker, 0, work, 0);
#ifdef FIXED
    pthread_once(&control, fill);
#endif
    volatile int seen = table;
    pthread_join(worker, 0);
    return seen > 1;
}
