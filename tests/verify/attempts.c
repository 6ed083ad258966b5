/* Loops that wait, as -O0 leaves them: HOW says which. Attempts that are remembered for the test before the
 * next one (0, 1), that are counted for nobody (2), a pointer that is written to a variable as an
 * integer (3), a queue lock (4). A round is no path. With -DBUGGY what is waited for does not guard. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static int count;

#if HOW <= 2
static atomic_int held;

static bool attempt(void)
{
    int free = 0;
    return atomic_compare_exchange_strong(&held, &free, 1);
}

static void *work(void *unused)
{
#if HOW == 0
    bool done = false;
    while (!done)
        done = attempt();
#elif HOW == 1
    for (int was = 1; was;)
        was = atomic_exchange(&held, 1);
#else
    int attempts = 0;
    while (!attempt())
        attempts++;
#endif
#ifdef BUGGY
    atomic_store(&held, 0);
#endif
    int old = count;
    count = old + 1;
#ifndef BUGGY
    atomic_store(&held, 0);
#endif
    return unused;
}
#elif HOW == 3
static struct message {
    int *content;
} message;
static _Atomic(struct message *) ready;

static void *work(void *other)
{
    struct message *found;
    if (other) {
        while ((found = atomic_load(&ready)) == NULL)
            ;
        ++*found->content;
        return NULL;
    }
#ifdef BUGGY
    atomic_store(&ready, &message);
#endif
    count = 1;
    message.content = &count;
    atomic_store(&ready, &message);
    return NULL;
}
#else
struct waiter {
    _Atomic(struct waiter *) next;
    atomic_bool waits;
};
static _Atomic(struct waiter *) last;

static void *work(void *unused)
{
    struct waiter own, *self = &own, *next;
    atomic_init(&own.next, NULL);
    atomic_init(&own.waits, true);
    struct waiter *before = atomic_exchange(&last, &own);
    if (before) {
        atomic_store(&before->next, &own);
        while (atomic_load(&own.waits))
            ;
    }
#ifndef BUGGY
    int old = count;
    count = old + 1;
#endif
    if (!atomic_compare_exchange_strong(&last, &self, NULL)) {
        while ((next = atomic_load(&own.next)) == NULL)
            ;
        atomic_store(&next->waits, false);
    }
#ifdef BUGGY
    int old = count;
    count = old + 1;
#endif
    return unused;
}
#endif

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, i ? threads : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert(count == 2);
}
