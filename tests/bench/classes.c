/* Three threads update two counters in turn, COUNT times: many interleavings that differ. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

static _Atomic int x, y;
static int count;

static void *work(void *unused)
{
    for (int i = 0; i < count; i++) {
        atomic_fetch_add(&x, 1);
        atomic_fetch_add(&y, 1);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t[3];
    count = argc > 1 ? atoi(argv[1]) : 2;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, work, NULL);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return 0;
}
