/* Two spinlock sections that do not commute, and an attempt at the lock. */
#include "outcome.h"

static pthread_spinlock_t lock;
static volatile int x = 1;

static void *add(void *unused)
{
    pthread_spin_lock(&lock);
    x = x + 3;
    pthread_spin_unlock(&lock);
    return unused;
}

static void *twice(void *unused)
{
    if (pthread_spin_trylock(&lock) == 0) {
        x = x * 2;
        pthread_spin_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    pthread_spin_init(&lock, 0);
    run2(add, twice);
    return x;
}
