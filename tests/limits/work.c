/* Work that takes longer than any limit of a test, or many steps, by -DNAME. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

static void start(void *(*routine)(void *), int threads)
{
    pthread_t made[8];
    for (int i = 0; i < threads; i++)
        pthread_create(&made[i], 0, routine, (void *)(long)i);
    for (int i = 0; i < threads; i++)
        pthread_join(made[i], 0);
}

static volatile int plain;
static atomic_long counter;
static atomic_int flag;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

#ifdef COUNTS /* ends by itself, after very many steps */
static void *counts(void *arg)
{
    for (int i = 0; i < 6000000; i++)
        atomic_fetch_add(&counter, 1);
    return arg;
}
int main(void) { start(counts, 2); return counter != 12000000; }
#endif

#ifdef SLEEPS /* a race, and a thread that sleeps again and again without end */
static void *sleeps(void *arg)
{
    plain++;
    while (arg)
        usleep(1000);
    return arg;
}
int main(void) { start(sleeps, 2); return 0; }
#endif

#ifdef SHORT /* many steps, which end soon if nobody cuts them off */
static void *hundreds(void *arg)
{
    for (int i = 0; i < 300000; i++)
        atomic_fetch_add(&counter, 1);
    return arg;
}
int main(void) { start(hundreds, 2); return counter != 600000; }
#endif

#ifdef SOME /* the same, in some interleavings */
static void *perhaps(void *arg)
{
    if (atomic_exchange(&flag, 1))
        for (int i = 0; i < 3000 * atomic_load(&counter); i++)
            atomic_load(&flag);
    else
        atomic_store(&counter, 1);
    return arg;
}
int main(void) { start(perhaps, 2); return 0; }
#endif

#ifdef LOADS /* the same, without a change of memory */
static void *loads(void *arg)
{
    for (int i = 0; i < 6000000; i++)
        if (atomic_load(&flag))
            return 0;
    return arg;
}
int main(void) { start(loads, 2); return 0; }
#endif

#ifdef RACES /* many steps that race, in one execution */
static void *races(void *arg)
{
    for (int i = 0; i < 20000000; i++)
        plain = plain + 1;
    return arg;
}
int main(void) { start(races, 2); return 0; }
#endif

#ifdef WAITS /* a livelock in some interleavings */
static void *tries(void *arg)
{
    if (pthread_mutex_trylock(&mutex) == 0) {
        atomic_store(&flag, 1);
        pthread_mutex_unlock(&mutex);
    }
    return arg;
}
int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, tries, 0);
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    while (!atomic_load(&flag))
        ;
    return pthread_join(thread, 0);
}
#endif

#ifdef CREATES /* threads without end */
static void *races(void *arg) { plain++; return arg; }
int main(void)
{
    pthread_t thread;
    for (;;)
        pthread_create(&thread, 0, races, 0);
}
#endif

#ifdef LOCKS /* very many locks */
int main(void)
{
    int n = 1000000;
    pthread_mutex_t *locks = malloc(n * sizeof *locks);
    for (int i = 0; i < n; i++)
        pthread_mutex_init(locks + i, 0);
    for (int i = 0; i < n; i++) {
        pthread_mutex_lock(locks + i);
        pthread_mutex_unlock(locks + i);
    }
    return 0;
}
#endif

#ifdef FAILS /* a failure after many switches, which takes long to be made simple */
static void *adds(void *arg)
{
    for (int i = 0; i < 300; i++) {
        int seen = plain;
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        plain = seen + 1;
    }
    return arg;
}
int main(void) { start(adds, 3); if (plain != 900) abort(); return 0; }
#endif

#ifdef SOLVES /* long formulas and questions */
static int values[6];
static void *mixes(void *arg)
{
    int me = (int)(long)arg;
    for (int i = 0; i < 6; i++)
        values[(me + i) % 6] = values[i] * 31 + values[(i + me) % 6] + me;
    if (values[me] == 123457)
        abort();
    return 0;
}
int main(void) { start(mixes, 4); return 0; }
#endif

#ifdef CLOCK /* runs by the clock: counts until a second has passed, by -DCLOCK=n */
static atomic_long shared;
static volatile long own[2];
static void *counts(void *arg)
{
    long n = 0;
    while (!atomic_load_explicit(&flag, memory_order_relaxed)) {
        n++;
        if (CLOCK == 2)
            own[(long)arg]++;
        if (CLOCK == 3)
            atomic_fetch_add(&shared, 1);
    }
    return (void *)n;
}
int main(void)
{
    pthread_t made[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&made[i], 0, counts, (void *)i);
    sleep(1);
    atomic_store(&flag, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(made[i], 0);
    return 0;
}
#endif

#ifdef ASKS /* asks for an input */
int __VERIFIER_nondet_int(void);
static void *writes(void *arg) { plain = 1; return arg; }
int main(void) { start(writes, 1); return __VERIFIER_nondet_int() == 7; }
#endif
