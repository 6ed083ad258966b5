/* A queue lock (Mellor-Crummey and Scott): each thread waits in a loop for a flag on its own stack,
   which another one clears. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>

struct node {
    struct node *_Atomic next;
    atomic_int waits;
};

static struct node *_Atomic last;
static int shared;

static void *add(void *unused)
{
    struct node own;
    atomic_init(&own.next, NULL);
    atomic_init(&own.waits, 1);
    struct node *before = atomic_exchange(&last, &own);
    if (before) {
        atomic_store(&before->next, &own);
        while (atomic_load(&own.waits))
            sched_yield();
    }
    shared++;
    struct node *expected = &own;
    if (!atomic_compare_exchange_strong(&last, &expected, NULL)) {
        struct node *next;
        while (!(next = atomic_load(&own.next)))
            sched_yield();
        atomic_store(&next->waits, 0);
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, add, 0);
    add(0);
    pthread_join(thread, 0);
    return shared == 2 ? 0 : 1;
}
