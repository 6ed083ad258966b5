/* Atomicity (loadscript): the global script is set in one critical section and compiled in another;
 * a second thread sets its own in between, so that the first compiles the wrong one. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long script;
static int compiled;

static void load(long mine)
{
    pthread_mutex_lock(&lock);
    script = mine;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    assert(script == mine);
    compiled++;
    pthread_mutex_unlock(&lock);
}

static void *loader(void *mine)
{
    for (int i = 0; i < 2; i++)
        load((long)mine);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, loader, (void *)1L);
    pthread_create(&b, 0, loader, (void *)2L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(compiled == 4);
    return 0;
}
