/* With one input, main does ROUNDS rounds in memory that only it touches, of which nothing says at
 * first that it is not shared; with -O0 it reads `rounds` each time, as if it waited. The counter is
 * too high only after that. -DFIXED: it may be so high. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>

#ifdef FIXED
#define MOST 3
#else
#define MOST 2
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int count;
static volatile int table[64];
static int rounds = ROUNDS;

static void *add(void *unused)
{
    pthread_mutex_lock(&lock);
    count++;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    unsigned char kind;
    raddle_symbolic(&kind, sizeof kind, "kind");
    pthread_t t;
    pthread_create(&t, NULL, add, NULL);
    if (kind == 7) {
        for (int i = 0; i < rounds; i++)
            table[i % 64] += i;
        add(NULL);
        if (table[63] != 0)
            add(NULL);
    }
    pthread_join(t, NULL);
    assert(count <= MOST);
    return 0;
}
