// Ways to go on without a bound, each counted; with -DBUG three are too many.
#include <assert.h>
#include <pthread.h>
#include <raddle.h>
#include <stdatomic.h>

static unsigned wanted;

#if defined THREADS
static void *nothing(void *unused) { return unused; }

static unsigned count(void) {
    unsigned made = 0;
    for (; made < wanted; made++) {
        pthread_t thread;
        pthread_create(&thread, 0, nothing, 0);
        pthread_join(thread, 0);
    }
    return made;
}
#elif defined RECURSION
__attribute__((noinline)) static unsigned deep(unsigned level) {
    if (level >= wanted || level > 1000)
        return 0;
    return 1 + deep(level + 1);
}

static unsigned count(void) { return deep(0); }
#elif defined UPDATES
static atomic_uint rounds;
static atomic_int over;

static void *ends(void *unused) {
    atomic_store(&over, 1);
    return unused;
}

static unsigned count(void) {
    pthread_t thread;
    pthread_create(&thread, 0, ends, 0);
    while (!atomic_load(&over))
        atomic_fetch_add(&rounds, 1);
    pthread_join(thread, 0);
    return atomic_load(&rounds);
}
#endif

int main(void) {
    raddle_symbolic(&wanted, sizeof wanted, "wanted");
    unsigned all = count();
#ifdef BUG
    assert(all != 3);
#else
    (void)all;
#endif
    return 0;
}
