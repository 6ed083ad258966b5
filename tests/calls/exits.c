/* Main ends the process while another thread is about to do so, or leaves it to the others. */
#define _GNU_SOURCE
#include "calls.h"
#include <sched.h>

static volatile int first, second;

static void *ends(void *unused)
{
    first = 1;
    second = 1;
    _exit(1);
    return unused;
}

static int returns(void)
{
    start(ends, 0);
    return 0;
}

static int exits(void)
{
    start(ends, 0);
    exit(0);
}

static int exits_quickly(void)
{
    start(ends, 0);
    quick_exit(0);
}

static int exits_at_once(void)
{
    start(ends, 0);
    _Exit(0);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int result;

static void tells(void)
{
    _exit(result);
}

static void *adds(void *unused)
{
    pthread_mutex_lock(&mutex);
    result += 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *doubles(void *unused)
{
    pthread_mutex_lock(&mutex);
    result *= 2;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *makes(void *unused)
{
    start(adds, 0);
    return unused;
}

static void *joins(void *thread)
{
    check(!pthread_join(*(pthread_t *)thread, 0));
    return adds(0);
}

/* What was asked for at exit comes after all threads. */
static int leaves(void)
{
    check(!atexit(tells));
    start(adds, 0);
    start(doubles, 0);
    pthread_exit(0);
}

static int leaves_children(void)
{
    check(!atexit(tells));
    start(makes, 0);
    start(doubles, 0);
    pthread_exit(0);
}

static int leaves_alone(void)
{
    check(!atexit(tells));
    pthread_join(start(adds, 0), 0);
    pthread_exit(0);
}

static int joined(void)
{
    static pthread_t self;
    self = pthread_self();
    check(!atexit(tells));
    start(joins, &self);
    pthread_exit(0);
}

/* The process ends while main, which has left, waits for another thread. */
static void *joins_then_exits(void *thread)
{
    check(!pthread_join(*(pthread_t *)thread, 0));
    exit(result);
}

static int joined_then_exits(void)
{
    static pthread_t self;
    self = pthread_self();
    start(joins_then_exits, &self);
    start(adds, 0);
    pthread_exit(0);
}

/* What main leaves behind by pthread_exit, others may still look at: natively its stack stays. */
static void *looks(void *local)
{
    volatile int *numbers = local;
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 40; k++) check(numbers[k] == k + 5);
        sched_yield();
    }
    return 0;
}

static int keeps_locals(void)
{
    volatile int numbers[40];
    for (int k = 0; k < 40; k++) numbers[k] = k + 5;
    for (int i = 0; i < 2; i++) start(looks, (void *)numbers);
    pthread_exit(0);
}

static const struct mode modes[] = {
    MODE(returns), MODE(exits), MODE(exits_quickly), MODE(exits_at_once),
    MODE(leaves), MODE(leaves_children), MODE(leaves_alone), MODE(keeps_locals), MODE(joined),
    MODE(joined_then_exits),
};

MAIN
