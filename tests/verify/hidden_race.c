/* A race that needs an input, and the section of one thread before that of the other: in the other
 * order the lock keeps the accesses apart. -DFIXED: the access is in the section. */
#include <pthread.h>

int __VERIFIER_nondet_int(void);

int shared, turns;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *first(void *unused)
{
    if (__VERIFIER_nondet_int() == 4711) {
#ifndef FIXED
        shared = 1;
#endif
        pthread_mutex_lock(&lock);
#ifdef FIXED
        shared = 1;
#endif
        turns++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

static void *second(void *unused)
{
    pthread_mutex_lock(&lock);
    turns++;
#ifdef FIXED
    shared = 2;
#endif
    pthread_mutex_unlock(&lock);
#ifndef FIXED
    shared = 2;
#endif
    return unused;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, first, 0);
    pthread_create(&t, 0, second, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    return shared > 2;
}
