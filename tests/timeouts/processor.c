/* How much processor time a process has used by all accounts while main slept for three seconds and the
 * other thread waited for a lock. */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *other(void *unused)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return unused;
}

static int seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return now.tv_sec;
}

int main(void)
{
    pthread_t t;
    struct rusage usage;
    struct tms ticks;
    pthread_mutex_lock(&lock);
    pthread_create(&t, NULL, other, NULL);
    int begin = seconds(CLOCK_MONOTONIC);
    sleep(3);
    if (seconds(CLOCK_MONOTONIC) - begin < 3)
        return 2;
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    getrusage(RUSAGE_SELF, &usage);
    times(&ticks);
    return seconds(CLOCK_PROCESS_CPUTIME_ID) + clock() / CLOCKS_PER_SEC + usage.ru_utime.tv_sec +
           ticks.tms_utime / sysconf(_SC_CLK_TCK);
}
