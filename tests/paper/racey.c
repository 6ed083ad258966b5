/* In the manner of racey (Hill and Xu): threads mix words of a shared array by indices that they
 * read from it, without any lock, so that the result depends on every order. Each waits for the
 * other at the start by looking at a flag a limited number of times.
 *
 * Arguments: passes of each thread, looks. No order yields the result that is excluded. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

enum { WORDS = 4 };

static int passes = 1, looks = 10;
static volatile unsigned words[WORDS] = {1, 2, 3, 4};
static volatile int ready[2];

static unsigned mix(unsigned i, unsigned j)
{
    unsigned value = words[i & (WORDS - 1)] + words[j & (WORDS - 1)];
    return (value << 1 | value >> 31) ^ i;
}

static void *thread(void *argument)
{
    int self = (int)(long)argument;
    unsigned state = (unsigned)self + 1;
    ready[self] = 1;
    for (int k = 0; k < looks && !ready[1 - self]; k++)
        ;
    for (int k = 0; k < passes; k++) {
        unsigned value = mix(state, state + 1);
        words[(unsigned)(k + self) & (WORDS - 1)] = value;
        state = value;
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
    if (argc > 1)
        passes = atoi(argv[1]);
    if (argc > 2)
        looks = atoi(argv[2]);
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, thread, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    unsigned sum = 0;
    for (int i = 0; i < WORDS; i++)
        sum = sum * 31 + words[i];
    assert(sum != 0);
    return 0;
}
