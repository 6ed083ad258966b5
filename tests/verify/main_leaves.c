/* Main leaves by pthread_exit, and its threads are detached: by themselves, and by each other. With
 * -DBUGGY main joins one that has detached itself, or may. */
#include <pthread.h>

static void *alone(void *unused)
{
    pthread_detach(pthread_self());
    return unused;
}

static void *detach(void *other)
{
    pthread_detach(*(pthread_t *)other);
    return NULL;
}

static void *wait(void *unused)
{
    return unused;
}

int main(void)
{
    static pthread_t first, second, third;
    pthread_create(&first, NULL, alone, NULL);
    pthread_create(&second, NULL, wait, NULL);
    pthread_create(&third, NULL, detach, &second);
#ifdef BUGGY
    pthread_join(first, NULL);
#endif
    pthread_exit(NULL);
}
