/* A variable on main's stack, and one on the stack of the thread that it made. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#ifdef FIXED
#define ADD(to) (pthread_mutex_lock(&lock), ++*(to), pthread_mutex_unlock(&lock))
#else
#define ADD(to) (++*(to))
#endif

static void *inner(void *on_stack)
{
    ADD((int *)on_stack);
    return 0;
}

static void *outer(void *on_stack)
{
    pthread_t thread;
    int own = 0;
    pthread_create(&thread, 0, inner, &own);
    ADD(&own);
    pthread_join(thread, 0);
    ADD((int *)on_stack);
    return 0;
}

int main(void)
{
    pthread_t thread;
    int own = 0;
    pthread_create(&thread, 0, outer, &own);
    ADD(&own);
    pthread_join(thread, 0);
    return 0;
}
