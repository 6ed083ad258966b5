/* Two critical sections that do not commute: ((1 + 3) * 2) or ((1 * 2) + 3). */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int x = 1;

static void *add(void *unused)
{
    pthread_mutex_lock(&lock);
    x = x + 3;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *twice(void *unused)
{
    pthread_mutex_lock(&lock);
    x = x * 2;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    run2(add, twice);
    return x;
}
