/* Retries that give up: how often was tried is known to registers, the stack, a thread-local or a global
   variable only. The exit status says which of the two threads got what it wanted. */
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#ifndef TRIES
#define TRIES 3
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic int flag, got;
static __thread int local_tries;

static void *try_lock(void *unused)
{
    for (int i = 0; i < TRIES; i++)
        if (pthread_mutex_trylock(&lock) == 0) {
            atomic_fetch_or(&got, 1);
            pthread_mutex_unlock(&lock);
            break;
        }
    return unused;
}

static void *wait_for_flag(void *unused)
{
    while (!atomic_load(&flag))
        if (++local_tries == TRIES)
            return unused;
    atomic_fetch_or(&got, 2);
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    pthread_mutex_lock(&lock);
    pthread_create(&threads[0], 0, try_lock, 0);
    pthread_create(&threads[1], 0, wait_for_flag, 0);
    pthread_mutex_unlock(&lock);
    atomic_store(&flag, 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    _exit(10 + got);
}
