/* Loops that take a lock to look at a flag (-DLOOKS), try a lock until they have it (-DTRIES), or hold one and
   try another, and give back what they have if that is busy (-DBACKS_OFF). With -DSEEN=N the other thread tries
   the lock N times, and the exit status says which attempts failed: they saw that the loop held it. With -DWRONG
   the flag is never set, or the lock never given back. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static volatile int flag;

static void *wait_for_it(void *unused)
{
#if defined(TRIES)
    while (pthread_mutex_trylock(&a)) {
    }
#elif defined(BACKS_OFF)
    for (;;) {
        pthread_mutex_lock(&a);
        if (pthread_mutex_trylock(&b) == 0)
            break;
        pthread_mutex_unlock(&a);
    }
    pthread_mutex_unlock(&b);
#else
    for (int done = 0; !done;) {
        pthread_mutex_lock(&a);
        done = flag;
        if (!done) {
            pthread_mutex_unlock(&a);
#ifdef YIELDS
            sched_yield();
#endif
        }
    }
#endif
    pthread_mutex_unlock(&a);
    return unused;
}

#ifdef SEEN
static void wait_for_the_end_of_the_round(void)
{
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
}
#endif

static void *let_it_go_on(void *unused)
{
#if defined(TRIES)
    pthread_mutex_lock(&a);
#ifndef WRONG
    pthread_mutex_unlock(&a);
#endif
#elif defined(BACKS_OFF)
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_mutex_unlock(&a);
#ifndef WRONG
    pthread_mutex_unlock(&b);
#endif
#else
#ifdef SEEN
    int failed = 0;
    for (int n = 0; n < SEEN; n++)
        if (pthread_mutex_trylock(&a)) {
            failed |= 1 << n;
            wait_for_the_end_of_the_round();
        } else {
            pthread_mutex_unlock(&a);
        }
    _exit(10 + failed);
#endif
    pthread_mutex_lock(&a);
#ifndef WRONG
    flag = 1;
#endif
    pthread_mutex_unlock(&a);
#endif
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    int count = 0;
    pthread_create(&threads[count++], 0, let_it_go_on, 0);
    pthread_create(&threads[count++], 0, wait_for_it, 0);
#ifdef TWO
    pthread_create(&threads[count++], 0, wait_for_it, 0);
#endif
    while (count > 0)
        pthread_join(threads[--count], 0);
    return 0;
}
