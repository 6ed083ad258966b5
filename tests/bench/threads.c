/* The program of the speed marks: THREADS threads, each of which locks and unlocks ROUNDS times.
 * threads 2 1: two threads and ten events; threads 4 80: four threads and some 650 events. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *work(void *rounds)
{
    for (long i = 0; i < (long)rounds; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2;
    long rounds = argc > 2 ? atol(argv[2]) : 1;
    pthread_t t[64];
    for (int i = 0; i < n; i++)
        pthread_create(&t[i], 0, work, (void *)rounds);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], 0);
    return counter != n * rounds;
}
