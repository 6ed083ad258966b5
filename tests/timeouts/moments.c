/* Threads wait for so long, or until a moment, and look at clocks: `moments THREAD,THREAD,...`, each a
 * word of letters. What each found is printed at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 };
static struct found { const char *todo; int count; long values[MOST]; } found[3];
static int ends[2], timer, many;
static uint32_t word;
static sem_t posts;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, taken = PTHREAD_MUTEX_INITIALIZER;

static long now(void)
{
    static __thread int zero;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return zero + t.tv_sec % 1000 * 1000000 + t.tv_nsec / 1000;
}

static struct timespec in(clockid_t clock, long us)
{
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += us * 1000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* The result of what a letter stands for; -1: none. */
static long perform(char letter)
{
    struct timespec five = {0, 5000}, until;
    struct timeval seven = {0, 7};
    struct pollfd one = {ends[0], POLLIN, 0};
    struct epoll_event event;
    struct itimerspec armed = {{0, 0}, {0, 9000}}, left;
    struct itimerval none = {{0, 0}, {0, 0}}, old;
    uint64_t times;
    switch (letter) {
    case 'L': return now();
    case 'u': return usleep(3);
    case 'n': return nanosleep(&five, NULL);
    case 'c': return clock_nanosleep(CLOCK_MONOTONIC, 0, &five, NULL);
    case 'p': return poll(&one, 1, 1);
    case 's': return select(0, NULL, NULL, NULL, &seven);
    case 'e': return epoll_wait(many, &event, 1, 2);
    case 'f': return syscall(SYS_futex, &word, FUTEX_WAIT, 0, &five, NULL, 0) + errno;
    case 't': until = in(CLOCK_REALTIME, 4); return sem_timedwait(&posts, &until);
    case 'm': until = in(CLOCK_REALTIME, 6); return pthread_mutex_timedlock(&taken, &until);
    case 'd':
        until = in(CLOCK_REALTIME, 8);
        pthread_mutex_lock(&lock);
        int result = pthread_cond_timedwait(&condition, &lock, &until);
        pthread_mutex_unlock(&lock);
        return result;
    case 'a': return timerfd_settime(timer, 0, &armed, NULL);
    case 'g': timerfd_gettime(timer, &left); return left.it_value.tv_nsec / 1000;
    case 'r': return read(timer, &times, 8) == 8 ? (long)times : -errno;
    case 'i': none.it_value.tv_usec = 900000; setitimer(ITIMER_REAL, &none, &old); return old.it_value.tv_usec;
    default: abort();
    }
}

static void *run(void *argument)
{
    struct found *mine = argument;
    for (const char *letter = mine->todo; *letter && mine->count < MOST; letter++)
        mine->values[mine->count++] = perform(*letter);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[3];
    int n = 0;
    if (count < 2 || pipe(ends))
        return 2;
    signal(SIGALRM, SIG_IGN);
    many = epoll_create1(0);
    timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    sem_init(&posts, 0, 0);
    pthread_mutex_lock(&taken);
    for (char *word = strtok(arguments[1], ","); word && n < 3; word = strtok(NULL, ","))
        found[n++].todo = word;
    for (int i = 0; i < n; i++)
        pthread_create(threads + i, NULL, run, found + i);
    for (int i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    char line[400] = "";
    for (int i = 0; i < n; i++)
        for (int k = 0; k < found[i].count; k++)
            sprintf(line + strlen(line), "%c%ld ", found[i].todo[k], found[i].values[k]);
    FILE *file = fopen(arguments[2], "a");
    fprintf(file, "%s\n", line);
    fclose(file);
    return 0;
}
