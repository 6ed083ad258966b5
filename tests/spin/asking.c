/* Threads wait in loops for a flag, and do something in each round: `asking CALLS WAITERS STEPS`. Each
 * letter of CALLS is a call; others take STEPS steps before one sets the flag. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static atomic_int flag, other;
static int ends[2];
static const char *calls;
static int steps;
static sem_t posts;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER;

static void call(char letter)
{
    struct timespec time = {0, 1000};
    struct pollfd one = {ends[0], POLLIN, 0};
    int count;
    switch (letter) {
    case 'r': (void)rand(); break;
    case 'g': (void)getenv("THERE"); break;
    case 'y': sched_yield(); break;
    case 'n': nanosleep(&time, NULL); break;
    case 'u': usleep(1); break;
    case 'e': errno = errno == 5 ? 0 : 0; break;
    case 'E': errno++; break;
    case 'c': clock_gettime(CLOCK_MONOTONIC, &time); break;
    case 'i': ioctl(ends[0], FIONREAD, &count); break;
    case 'p': poll(&one, 1, 0); break;
    case 'P': poll(&one, 1, 1); break;
    case 'm': free(malloc(8)); break;
    case 'l': pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); break;
    case 't': if (!pthread_mutex_trylock(&tried)) pthread_mutex_unlock(&tried); break;
    case 's': sem_trywait(&posts); break;
    case 'a': atomic_fetch_add(&other, 0); break;
    case 'o': (void)atomic_load(&other); break;
    case 'S': (void)strerror(200); break;
    case 'w': write(ends[1], "", 0); break;
    default: abort();
    }
}

static void *wait_for(void *argument)
{
    while (!atomic_load(&flag))
        for (const char *letter = calls; *letter; letter++)
            call(*letter);
    return argument;
}

static void *set(void *argument)
{
    for (int i = 0; i < steps; i++)
        atomic_fetch_add(&other, 1);
    atomic_store(&flag, 1);
    return argument;
}

int main(int count, char **arguments)
{
    pthread_t threads[4];
    if (count < 4 || pipe(ends))
        return 2;
    calls = arguments[1];
    int waiters = atoi(arguments[2]);
    steps = atoi(arguments[3]);
    pthread_mutex_lock(&tried);
    sem_init(&posts, 0, 0);
    for (int i = 0; i < waiters; i++)
        pthread_create(threads + i, NULL, wait_for, NULL);
    pthread_create(threads + waiters, NULL, set, NULL);
    for (int i = 0; i <= waiters; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
