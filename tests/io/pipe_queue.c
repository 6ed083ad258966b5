// Two producers and a consumer over a pipe. The consumer stops at the end of file. The bug: the
// main thread closes its copy of the writing end only after it has waited for the consumer, so the
// end of file never comes.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static int ends[2];
static int done[2];

static void *produce(void *argument) {
    int end = (int)(intptr_t)argument;
    for (int i = 1; i <= 2; i++) {
        ssize_t n = write(end, &i, sizeof i);
        assert(n == sizeof i);
    }
    close(end);
    return NULL;
}

static void *consume(void *argument) {
    intptr_t sum = 0;
    int item;
    while (read(ends[0], &item, sizeof item) == sizeof item)
        sum += item;
    (void)argument;
    return (void *)sum;
}

int main(void) {
    pthread_t producers[2], consumer;
    void *sum;
    assert(pipe(ends) == 0);
    for (int i = 0; i < 2; i++)
        done[i] = dup(ends[1]);
    pthread_create(&consumer, NULL, consume, NULL);
    for (int i = 0; i < 2; i++)
        pthread_create(&producers[i], NULL, produce, (void *)(intptr_t)done[i]);
#ifdef FIXED
    close(ends[1]);
#endif
    for (int i = 0; i < 2; i++)
        pthread_join(producers[i], NULL);
    pthread_join(consumer, &sum);
    assert((intptr_t)sum == 6);
    return 0;
}
