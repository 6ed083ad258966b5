// Stacks of every kind: small, large, the program's own, deep recursion, alloca, and contexts that
// are switched by hand.
#define _GNU_SOURCE
#include <alloca.h>
#include <assert.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int passed;

static void pass(void) {
    pthread_mutex_lock(&lock);
    passed++;
    pthread_mutex_unlock(&lock);
}

static void *plain(void *unused) {
    pass();
    return unused;
}

__attribute__((noinline)) static long dive(long depth) {
    volatile char room[1024];
    room[0] = (char)depth;
    room[1023] = 1;
    return depth == 0 ? 0 : room[0] * 0 + 1 + dive(depth - 1);
}

// Near the limit of a stack of 8 MiB.
static void *deep(void *unused) {
    assert(dive(7000) == 7000);
    pass();
    return unused;
}

static void *wide(void *unused) {
    for (size_t size = 16; size <= 1 << 20; size *= 16) {
        char *room = alloca(size);
        memset(room, 1, size);
        pass();
        assert(room[size - 1] == 1);
    }
    return unused;
}

static ucontext_t outer, inner[2];
static int order[4], steps;

static void routine(int who) {
    order[steps++] = who;
    pass();
    swapcontext(&inner[who], who ? &inner[0] : &inner[1]);
    order[steps++] = who;
    pass();
}

static void *contexts(void *unused) {
    for (int i = 0; i < 2; i++) {
        getcontext(&inner[i]);
        inner[i].uc_stack.ss_sp = malloc(1 << 16);
        inner[i].uc_stack.ss_size = 1 << 16;
        inner[i].uc_link = i ? &outer : &inner[1];
        makecontext(&inner[i], (void (*)(void))routine, 1, i);
    }
    swapcontext(&outer, &inner[0]);
    assert(steps == 4 && order[0] == 0 && order[1] == 1 && order[2] == 0 && order[3] == 1);
    return unused;
}

#ifndef FIXED
static void *overflow(void *unused) {
    return (void *)(intptr_t)dive(1L << 40);
}
#endif

int main(void) {
    pthread_t threads[6];
    pthread_attr_t attr;
    size_t own = 1 << 18;
    void *stack = mmap(NULL, own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
    pthread_create(&threads[0], &attr, plain, 0);
    pthread_attr_setstacksize(&attr, 256 << 20);
    pthread_create(&threads[1], &attr, plain, 0);
    pthread_attr_setstack(&attr, stack, own);
    pthread_create(&threads[2], &attr, plain, 0);
    pthread_create(&threads[3], NULL, deep, 0);
    pthread_create(&threads[4], NULL, wide, 0);
    pthread_create(&threads[5], NULL, contexts, 0);
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    assert(passed == 4 + 5 + 4 - 0);
#ifndef FIXED
    pthread_create(&threads[0], NULL, overflow, 0);
    pthread_join(threads[0], NULL);
#endif
    return 0;
}
