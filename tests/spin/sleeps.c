/* A thread waits for another one's flag, and pauses or sleeps in each round: -DPAUSE=N says how. With -DWRONG it
 * finds the flag before what that promises; with -DCLOCK it looks how long it has waited, which rounds without
 * number decide. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static atomic_int ready;
static int data;

static void *gives(void *argument)
{
#ifdef WRONG
    atomic_store(&ready, 1);
    data = 7;
#else
    data = 7;
    atomic_store(&ready, 1);
#endif
    return argument;
}

static void pauses(void)
{
#if PAUSE == 0
    __asm__ volatile("pause");
#elif PAUSE == 1
    __asm__ volatile("rep; nop" ::: "memory");
#elif PAUSE == 2
    __builtin_ia32_pause();
    __asm__ volatile("" ::: "memory");
#elif PAUSE == 3
    usleep(10);
#elif PAUSE == 4
    struct timespec moment = { 0, 1000 };
    nanosleep(&moment, NULL);
#elif PAUSE == 5
    struct timespec moment = { 0, 1000 };
    clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, &moment);
#elif PAUSE == 6
    sleep(1);
#endif
}

int main(void)
{
    pthread_t thread;
    struct timespec before, now;
    pthread_create(&thread, NULL, gives, NULL);
#ifdef CLOCK
    clock_gettime(CLOCK_MONOTONIC, &before);
#endif
    while (!atomic_load(&ready))
        pauses();
#ifdef CLOCK
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert(now.tv_sec - before.tv_sec < 3);
#endif
    assert(data == 7);
    pthread_join(thread, NULL);
    return 0;
}
