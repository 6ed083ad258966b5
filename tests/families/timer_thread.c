/* A timer's notification uses what main makes only after arming it. */
#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <semaphore.h>

static int *buffer;
static sem_t done;

static void notify(union sigval value)
{
    assert(buffer != 0 && value.sival_int == 5);
    sem_post(&done);
}

int main(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notify};
    struct itimerspec soon = {.it_value = {0, 1000000}};
    struct timespec before, after;
    timer_t timer;
    event.sigev_value.sival_int = 5;
    sem_init(&done, 0, 0);
    clock_gettime(CLOCK_MONOTONIC, &before);
    assert(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
#ifdef FIXED
    buffer = malloc(4);
#endif
    assert(timer_settime(timer, 0, &soon, 0) == 0);
#ifndef FIXED
    sched_yield();
    buffer = malloc(4);
#endif
    sem_wait(&done);
    clock_gettime(CLOCK_MONOTONIC, &after);
    assert(after.tv_sec * 1000000000LL + after.tv_nsec
           >= before.tv_sec * 1000000000LL + before.tv_nsec + 1000000);
    return timer_delete(timer);
}
