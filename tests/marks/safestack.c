/* The lock-free stack known as "SafeStack": an index stack whose pop marks the head's link while it
 * is under way. It hands one element to two threads, but only if three threads interleave with at
 * least five preemptions. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 3, ROUNDS = 2 };
static struct {
    _Atomic int owner; /* plain, the compiler would know what it has just written */
    _Atomic int next;
} cells[THREADS];
static _Atomic int head, count = THREADS;
#ifdef FIXED
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#endif

static int pop(void)
{
    while (count > 1) {
        int first = head;
        int second = atomic_exchange(&cells[first].next, -1);
        if (second < 0)
            continue;
        int expected = first;
        if (atomic_compare_exchange_strong(&head, &expected, second)) {
            atomic_fetch_sub(&count, 1);
            return first;
        }
        atomic_exchange(&cells[first].next, second);
    }
    return -1;
}

static void push(int index)
{
    int first = head;
    do
        cells[index].next = first;
    while (!atomic_compare_exchange_strong(&head, &first, index));
    atomic_fetch_add(&count, 1);
}

static int pop_one(void)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    int index = pop();
    pthread_mutex_unlock(&lock);
    return index;
#else
    return pop();
#endif
}

static void push_one(int index)
{
#ifdef FIXED
    pthread_mutex_lock(&lock);
    push(index);
    pthread_mutex_unlock(&lock);
#else
    push(index);
#endif
}

static void *work(void *argument)
{
    int me = (int)(long)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int index;
        while ((index = pop_one()) < 0)
            ;
        cells[index].owner = me;
        assert(cells[index].owner == me);
        push_one(index);
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        cells[i].next = i + 1 < THREADS ? i + 1 : -1;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    return 0;
}
