/* Two threads count without a lock. Built with UNSEEN, a function without hooks has changed the
 * variable before, unnoticed. */
#include <pthread.h>

static int counter;

#ifdef UNSEEN
__attribute__((noinline, disable_sanitizer_instrumentation)) static void change(void)
{
    counter = 5;
}
#endif

static void *count(void *unused)
{
    counter++;
    return unused;
}

int main(void)
{
    pthread_t first, second;
    counter = 1;
#ifdef UNSEEN
    change();
#endif
    pthread_create(&first, 0, count, 0);
    pthread_create(&second, 0, count, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
