/* A trylock fails only while the other thread is inside. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int got_one, got_two;

static int try_to_enter(void)
{
    if (pthread_mutex_trylock(&lock) != 0)
        return 1;
    pthread_mutex_unlock(&lock);
    return 2;
}

static void *one(void *unused)
{
    got_one = try_to_enter();
    return unused;
}

static void *two(void *unused)
{
    got_two = try_to_enter();
    return unused;
}

int main(void)
{
    run2(one, two);
    return got_one * 10 + got_two;
}
