/* Three threads whose steps take long. */
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned state = 1;

static void *work(void *argument)
{
    for (int round = 0; round < 3; round++) {
        pthread_mutex_lock(&lock);
        for (int i = 0; i < 300000; i++)
            state = state * 5 + (unsigned)(long)argument;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], 0, work, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    printf("%u\n", state);
    return 0;
}
