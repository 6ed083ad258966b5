/* A function of the C library stores something where its argument leads, under a lock that another
 * thread takes to look: before or after, so its assertion fails with -DSEEN=0 as with -DSEEN=1. With
 * -DFIXED it does not care. HOW: which function. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *volatile result;
static volatile pthread_t handle;
static volatile int ends[2];
static volatile char text[8];
static struct timeval now;
static volatile int kind;

static void *work(void *unused)
{
    (void)unused;
    return (void *)&lock;
}

static int is_stored(void)
{
#if HOW == 0
    return result != NULL;
#elif HOW == 1
    return handle != 0;
#elif HOW == 2
    return ends[1] != 0;
#elif HOW == 3
    return text[0] != 0;
#elif HOW == 4
    return *(volatile long *)&now.tv_sec != 0;
#else
    return kind != 0;
#endif
}

static void *look(void *unused)
{
    pthread_mutex_lock(&lock);
    int seen = is_stored();
    pthread_mutex_unlock(&lock);
#ifdef FIXED
    assert(seen == 0 || seen == 1);
#else
    assert(seen == SEEN);
#endif
    return unused;
}

int main(void)
{
    pthread_t looker, worker;
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_create(&worker, NULL, work, NULL);
    pthread_create(&looker, NULL, look, NULL);
    pthread_mutex_lock(&lock);
#if HOW == 0
    pthread_join(worker, (void **)&result);
#elif HOW == 1
    pthread_create((pthread_t *)&handle, NULL, work, NULL);
#elif HOW == 2
    assert(pipe((int *)ends) == 0);
#elif HOW == 3
    snprintf((char *)text, sizeof text, "%d", 12);
#elif HOW == 4
    gettimeofday(&now, NULL);
#else
    pthread_mutexattr_gettype(&attributes, (int *)&kind);
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(looker, NULL);
#if HOW != 0
    pthread_join(worker, NULL);
#endif
#if HOW == 1
    pthread_join(handle, NULL);
#endif
    return 0;
}
