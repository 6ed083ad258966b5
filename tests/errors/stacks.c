/* A thread runs on a stack that the program gives it, and takes back by -DHOW=N (from malloc if that is 0 or 6, else
 * from mmap). With -DEARLY that comes before the thread is joined, which may still run on it; otherwise afterwards. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { SIZE = 65536 };

static atomic_int steps;

static void *runs(void *argument)
{
    atomic_fetch_add(&steps, 1);
    return argument;
}

static char *stack;

static void give_back(void)
{
    switch (HOW) {
    case 0: free(stack); break;
    case 1: munmap(stack, SIZE); break;
    case 2: mprotect(stack, SIZE, PROT_NONE); break;
    case 3: madvise(stack, SIZE, MADV_DONTNEED); break;
    case 4: mmap(stack, SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); break;
    case 5: mremap(stack, SIZE, 4096, 0); break;
    case 6: stack = realloc(stack, 2 * SIZE); break;
    }
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
    stack = HOW == 0 || HOW == 6 ? aligned_alloc(4096, SIZE)
                                 : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    pthread_attr_setstack(&attributes, stack, SIZE);
    pthread_create(&thread, &attributes, runs, NULL);
#ifdef EARLY
    give_back();
#endif
    pthread_join(thread, NULL);
#ifndef EARLY
    give_back();
#endif
    return 0;
}
