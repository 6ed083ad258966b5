// With LIBRARY the part that counts, without it the program.
#ifdef LIBRARY
static long counter;
void add(void) { counter = counter + 1; }
long sum(void) { return counter; }
#else
#include <assert.h>
#include <pthread.h>

void add(void);
long sum(void);

static void *work(void *unused) {
    add();
    return unused;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    assert(sum() == 2);
    return 0;
}
#endif
