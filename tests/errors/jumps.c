/* Two threads keep in one buffer where they jump back to: one finds where the other was. With -DFIXED each has its
 * own; with -DIN_TURN they share it, one after the other. */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stddef.h>

#ifdef FIXED
static __thread jmp_buf back;
#else
static jmp_buf back;
#endif
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *jumps(void *argument)
{
    volatile int rounds = 0;
#ifdef IN_TURN
    pthread_mutex_lock(&mutex);
#endif
    int value = setjmp(back);
    assert(value == rounds);
    if (rounds++ == 0)
        longjmp(back, 1);
#ifdef IN_TURN
    pthread_mutex_unlock(&mutex);
#endif
    return argument;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, jumps, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
