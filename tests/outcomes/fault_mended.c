/* An access faults; the handler, which another thread changes, makes the memory accessible and returns. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/mman.h>
#include "outcome.h"

enum { PAGE = 4096 };
static volatile int *page;
static volatile int which;

static void mend(int handler)
{
    which = handler;
    mprotect((void *)page, PAGE, PROT_READ | PROT_WRITE);
}

static void first(int signal)
{
    (void)signal;
    mend(1);
}

static void second(int signal)
{
    (void)signal;
    mend(2);
}

static void *fault(void *unused)
{
    page[0] = 1;
    page[1] = 2;
    return unused;
}

int main(void)
{
    pthread_t t;
    page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    signal(SIGSEGV, first);
    pthread_create(&t, NULL, fault, NULL);
    signal(SIGSEGV, second);
    int seen = page[1];
    pthread_join(t, NULL);
    return which * 10 + seen;
}
