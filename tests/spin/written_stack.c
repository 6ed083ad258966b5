/* Main waits in a loop for a flag on its stack; the thread that sets it then changes other things there: words
   (-DWORDS), a buffer (-DFILLS), a lock (-DRWLOCK, -DSPINLOCK), a semaphore (-DPOSTS), a once control (-DONCE),
   the name of a thread (-DCREATES). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

struct work {
    atomic_int done;
    long words[12];
    char buffer[600];
    pthread_rwlock_t lock;
    pthread_spinlock_t spin;
    sem_t semaphore;
    pthread_once_t once;
    pthread_t thread;
};

static void nothing(void)
{
}

static void *ends(void *unused)
{
    return unused;
}

static void *works(void *argument)
{
    struct work *work = argument;
    atomic_store(&work->done, 1);
#if defined(WORDS)
    for (int n = 0; n < 12; n++)
        work->words[n] = n + 1;
#elif defined(FILLS)
    memset(work->buffer, 1, sizeof work->buffer);
#elif defined(RWLOCK)
    pthread_rwlock_init(&work->lock, 0);
#elif defined(SPINLOCK)
    pthread_spin_lock(&work->spin);
#elif defined(POSTS)
    sem_post(&work->semaphore);
#elif defined(ONCE)
    pthread_once(&work->once, nothing);
#elif defined(CREATES)
    pthread_create(&work->thread, 0, ends, 0);
    pthread_detach(work->thread);
#endif
    return argument;
}

int main(void)
{
    struct work work;
    memset(&work, 0, sizeof work);
    memset(&work.lock, 1, sizeof work.lock);
    pthread_spin_init(&work.spin, 0);
    sem_init(&work.semaphore, 0, 0);
    pthread_t thread;
    pthread_create(&thread, 0, works, &work);
    while (!atomic_load(&work.done))
        sched_yield();
    pthread_join(thread, 0);
    return 0;
}
