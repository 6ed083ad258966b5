/* An event made of inline assembly: two threads wait for it, a third sets it. The bug: it wakes only one.
   With -DLIBRARY this is a library, with -DLOAD a program that loads it (its argument). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>

#ifndef LOAD
static long futex(int *word, int operation, int value)
{
    register long timeout asm("r10") = 0;
    long result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"((long)SYS_futex), "D"(word), "S"((long)operation), "d"((long)value), "r"(timeout)
                 : "rcx", "r11", "memory");
    return result;
}

void event_wait(int *word)
{
    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        futex(word, FUTEX_WAIT_PRIVATE, 0);
}

void event_set(int *word)
{
    __atomic_store_n(word, 1, __ATOMIC_SEQ_CST);
#ifdef FIXED
    futex(word, FUTEX_WAKE_PRIVATE, INT_MAX);
#else
    futex(word, FUTEX_WAKE_PRIVATE, 1);
#endif
}
#endif

#ifndef LIBRARY
#ifdef LOAD
static void (*event_wait)(int *), (*event_set)(int *);
#endif

static int word;

static void *setter(void *unused)
{
    event_set(&word);
    return unused;
}

static void *waiter(void *unused)
{
    event_wait(&word);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];
#ifdef LOAD
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
    if (library == NULL)
        return 2;
    *(void **)&event_wait = dlsym(library, "event_wait");
    *(void **)&event_set = dlsym(library, "event_set");
#else
    (void)argc, (void)argv;
#endif
    pthread_create(&threads[0], NULL, waiter, NULL);
    pthread_create(&threads[1], NULL, setter, NULL);
    event_wait(&word);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
#endif
