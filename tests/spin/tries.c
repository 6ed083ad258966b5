/* Loops of attempts that fail until another thread has done its part: HOW says which. There is no end to how
 * often they may fail. With -DBUGGY it does the wrong thing, which shows behind the loop. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t posts, turn;
static int x;

static void *work(void *unused)
{
#if HOW == 5
    pthread_mutex_lock(&mutex);
    sem_post(&turn);
#elif HOW == 6
    pthread_rwlock_wrlock(&lock);
    sem_post(&turn);
#elif HOW == 9
    pthread_mutex_lock(&mutex);
#endif
#ifdef BUGGY
    x = 2;
#else
    x = 1;
#endif
#if HOW == 5 || HOW == 9
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&mutex);
#elif HOW == 6
    pthread_rwlock_unlock(&lock);
#endif
    sem_post(&posts);
    return unused;
}

static struct timespec soon(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec++;
    return now;
}

int main(void)
{
    pthread_t thread;
    sem_init(&posts, 0, 0);
    sem_init(&turn, 0, 0);
    pthread_create(&thread, NULL, work, NULL);
#if HOW == 0
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        sched_yield();
#elif HOW == 1
    while (pthread_tryjoin_np(thread, NULL))
        ;
#elif HOW == 2
    int attempts = 0;
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        attempts++;
#elif HOW == 3
    while (sem_trywait(&posts) && errno == EAGAIN)
        usleep(100);
#elif HOW == 4
    for (int value = 0; sem_getvalue(&posts, &value), value == 0;)
        sched_yield();
#elif HOW == 5
    sem_wait(&turn);
    while (pthread_mutex_trylock(&mutex) == EBUSY)
        sched_yield();
#elif HOW == 6
    sem_wait(&turn);
    while (pthread_rwlock_tryrdlock(&lock) == EBUSY)
        sched_yield();
#elif HOW == 7
    for (struct timespec then = soon(); pthread_timedjoin_np(thread, NULL, &then) == ETIMEDOUT;)
        then = soon();
#elif HOW == 8
    for (struct timespec then = soon(); sem_timedwait(&posts, &then);)
        then = soon();
#elif HOW == 9
    pthread_mutex_lock(&mutex);
    while (!x) {
        struct timespec then = soon();
        pthread_cond_timedwait(&changed, &mutex, &then);
    }
    pthread_mutex_unlock(&mutex);
#elif HOW == 10
    void *result;
    int error;
    do
        error = pthread_tryjoin_np(thread, &result);
    while (error == EBUSY);
#elif HOW == 11
    for (;;) {
        struct timespec then = soon();
        if (!sem_timedwait(&posts, &then) || !pthread_tryjoin_np(thread, NULL))
            break;
    }
#endif
    return x != 1;
}
