/* A thread runs on a stack that the program gives it, from mmap or (-DHEAP) malloc. With -DEARLY it is given back
 * before the thread is joined, which may still run on it; otherwise afterwards. */
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
#ifdef HEAP
    free(stack);
#else
    munmap(stack, SIZE);
#endif
}

int main(void)
{
    pthread_attr_t attributes;
    pthread_t thread;
#ifdef HEAP
    stack = aligned_alloc(4096, SIZE);
#else
    stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#endif
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
