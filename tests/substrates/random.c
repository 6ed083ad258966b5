/* A random program: what each of its threads does follows from the argument and from what the thread sees.
   All that can block ends by itself. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static _Atomic unsigned counter;
static volatile unsigned shared[4];

static unsigned next(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

static void timed(unsigned *state)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += next(state) % 1000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&locks[0]);
    if (pthread_cond_timedwait(&cond, &locks[0], &until) == ETIMEDOUT)
        shared[3]++;
    pthread_mutex_unlock(&locks[0]);
}

static void *nested(void *unused)
{
    shared[2] += 1;
    return unused;
}

static void step(unsigned *state)
{
    pthread_t thread;
    int which = next(state) % 2;
    switch (next(state) % 12) {
    case 0:
        shared[next(state) % 4] = next(state);
        break;
    case 1:
        *state ^= shared[next(state) % 4];
        break;
    case 2:
        pthread_mutex_lock(&locks[which]);
        shared[which]++;
        pthread_mutex_unlock(&locks[which]);
        break;
    case 3:
        if (pthread_mutex_trylock(&locks[which]) == 0)
            pthread_mutex_unlock(&locks[which]);
        else
            *state += 7;
        break;
    case 4:
        *state += atomic_fetch_add(&counter, 3);
        break;
    case 5:
        sem_post(&sem);
        break;
    case 6:
        *state += sem_trywait(&sem) == 0;
        break;
    case 7:
        sched_yield();
        break;
    case 8:
        usleep(next(state) % 10);
        break;
    case 9:
        pthread_cond_broadcast(&cond);
        timed(state);
        break;
    case 10:
        which ? pthread_rwlock_rdlock(&rwlock) : pthread_rwlock_wrlock(&rwlock);
        *state += shared[1];
        pthread_rwlock_unlock(&rwlock);
        break;
    default:
        if (pthread_create(&thread, NULL, nested, NULL) == 0)
            pthread_join(thread, NULL);
    }
}

static void *work(void *start)
{
    unsigned state = (unsigned)(long)start;
    for (int i = 0; i < 8; i++)
        step(&state);
    return (void *)(long)state;
}

int main(int argc, char **argv)
{
    unsigned seed = argc > 1 ? atoi(argv[1]) : 1;
    int count = 2 + seed % 3;
    pthread_t threads[4];
    sem_init(&sem, 0, 1);
    for (int i = 0; i < count; i++)
        pthread_create(&threads[i], NULL, work, (void *)(long)(seed * 77 + i));
    unsigned sum = 0;
    for (int i = 0; i < count; i++) {
        void *result;
        pthread_join(threads[i], &result);
        sum = sum * 31 + (unsigned)(long)result;
    }
    printf("%u %u %u\n", sum, shared[0], counter);
    return sum % 3 ? 0 : 7;
}
