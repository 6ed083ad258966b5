/* Four or more threads work on counters with locks of their own; two of them, in the middle of their
   work, have a window: what one of them sets and takes back under the lock, the other one must not see.
   One preemption is enough, in executions with hundreds. `PROGRAM THREADS ROUNDS` */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#define LOCKS 4
static pthread_mutex_t locks[LOCKS] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                       PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int counters[LOCKS];
static int window;
static int rounds;

static void count(int at) {
    pthread_mutex_lock(&locks[at]);
    counters[at]++;
    pthread_mutex_unlock(&locks[at]);
}

static void set(int value) {
    pthread_mutex_lock(&locks[0]);
    window = value;
    pthread_mutex_unlock(&locks[0]);
}

static void *work(void *arg) {
    long me = (long)arg;
    for (int i = 0; i < rounds; i++) {
        count(i % LOCKS);
        if (i != rounds / 2)
            continue;
        if (me == 1) {
            set(1);
            count(1);
            set(0);
        } else if (me == 2) {
            pthread_mutex_lock(&locks[0]);
            int seen = window;
            pthread_mutex_unlock(&locks[0]);
            assert(seen == 0);
        }
    }
    return NULL;
}

int main(int argc, char **argv) {
    int n = argc > 1 ? atoi(argv[1]) : 4;
    rounds = argc > 2 ? atoi(argv[2]) : 20;
    pthread_t threads[n];
    for (long i = 0; i < n; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
