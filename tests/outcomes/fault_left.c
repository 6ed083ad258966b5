/* An access faults; the handler, which another thread changes, leaves by a jump. */
#include <setjmp.h>
#include <signal.h>
#include "outcome.h"

static __thread sigjmp_buf before;
static volatile int which;
static volatile int *volatile nowhere;

static void first(int signal)
{
    (void)signal;
    which = 1;
    siglongjmp(before, 1);
}

static void second(int signal)
{
    (void)signal;
    which = 2;
    siglongjmp(before, 1);
}

static void *fault(void *unused)
{
    if (!sigsetjmp(before, 1))
        *nowhere = 1;
    return unused;
}

int main(void)
{
    pthread_t t;
    signal(SIGSEGV, first);
    pthread_create(&t, NULL, fault, NULL);
    signal(SIGSEGV, second);
    int seen = which;
    pthread_join(t, NULL);
    return which * 10 + seen;
}
