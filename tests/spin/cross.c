/* Two threads, each of which waits for the other's word. The bug: both wait before they speak. With -DYIELD
   they are polite, with -DLOCK they look under a lock, with -DSLEEP they look now and then. */
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static volatile int word[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int spoken(int who)
{
#ifdef LOCK
    pthread_mutex_lock(&lock);
    int answer = word[who];
    pthread_mutex_unlock(&lock);
    return answer;
#else
    (void)lock;
    return word[who];
#endif
}

static void *talk(void *number)
{
    int me = (int)(long)number;
#ifdef FIXED
    if (me == 0)
        word[me] = 1;
#endif
    while (!spoken(1 - me)) {
#ifdef YIELD
        sched_yield();
#endif
#ifdef SLEEP
        usleep(100);
#endif
    }
    word[me] = 1;
    return 0;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, talk, (void *)i);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
