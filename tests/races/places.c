// Two threads write to the same memory (TWICE: and read it). CASE says of what sort. Fixed: one after the
// other.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

#ifndef CASE
#define CASE 0
#endif

static int global[4];
static __thread int own[8];
static _Thread_local int *volatile lent;

static int *sort(void) {
    static int on_page;
    switch (CASE) {
    case 0: return &own[0];
    case 1: return malloc(4 * sizeof(int));
    case 2: return mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    case 3: return dlsym(RTLD_DEFAULT, "optind");
    case 4: return &on_page;
    default: return &global[1];
    }
}

static void set(int *place) {
    *(volatile int *)place = 1;
#ifdef TWICE
    (void)*(volatile int *)place;
#endif
}

static void *inner(void *place) {
    set(place);
    return 0;
}

static void *outer(void *unused) {
    pthread_t thread;
    lent = sort();
    pthread_create(&thread, 0, inner, lent);
#ifdef FIXED
    pthread_join(thread, 0);
    set(lent);
#else
    set(lent);
    pthread_join(thread, 0);
#endif
    return unused;
}

int main(int count, char **words) {
    (void)words;
    pthread_t thread;
    if (count > 1) {
        pthread_create(&thread, 0, outer, 0);
        pthread_join(thread, 0);
    } else {
        outer(0);
    }
    return 0;
}
