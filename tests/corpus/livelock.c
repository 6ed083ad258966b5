/* Livelock: two polite threads each let the other go first. Whoever comes second makes the other
 * one wait; when both have spoken before either looks, both yield for ever. */
#include <pthread.h>
#include <sched.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int wants[2];

static int other_wants(int me)
{
    pthread_mutex_lock(&lock);
    int answer = wants[1 - me];
    pthread_mutex_unlock(&lock);
    return answer;
}

static void say(int me, int want)
{
    pthread_mutex_lock(&lock);
    wants[me] = want;
    pthread_mutex_unlock(&lock);
}

static void *polite(void *number)
{
    int me = (int)(long)number;
    say(me, 1);
#ifdef FIXED
    if (me == 0)
#endif
        while (other_wants(me))
            sched_yield();
    say(me, 0);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, polite, (void *)0L);
    pthread_create(&b, 0, polite, (void *)1L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return 0;
}
