// Loops that wait and do something besides (one of the flags below). With -DWRONG what they wait for
// does not come.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef WRONG
int comes = 0;
#else
int comes = 1;
#endif
atomic_int flag;
static atomic_int *mapped;
static pthread_t waiter, setter;
static volatile sig_atomic_t caught;
static int file, ends[2], number;

static void handler(int signal) {
    caught = signal;
}

static void *wait(void *unused) {
#if defined(RAND)
    while (!atomic_load(&flag))
        rand();
#elif defined(TIME)
    while (!atomic_load(&flag))
        time(0);
#elif defined(GETENV)
    while (!atomic_load(&flag))
        getenv("HOME");
#elif defined(STRTOL)
    while (!atomic_load(&flag))
        number = strtol("77", 0, 10);
#elif defined(PRINTS)
    char text[16];
    while (!atomic_load(&flag))
        snprintf(text, sizeof text, "%p", unused);
#elif defined(BUFFER)
    char own[4];
    for (int i = 0; !atomic_load(&flag); i = (i + 1) % 4)
        own[i] = i;
#elif defined(ALLOCATES)
    while (!atomic_load(&flag))
        free(malloc(8));
#elif defined(SIGNAL)
    while (!caught) {
    }
#elif defined(CANCEL)
    while (!atomic_load(&flag)) {
        pthread_testcancel();
        sched_yield();
    }
#elif defined(TRY_JOIN)
    while (pthread_tryjoin_np(setter, 0) == EBUSY) {
    }
#elif defined(MAPPED)
    while (!atomic_load(mapped)) {
    }
#elif defined(BACKS_OFF)
    for (int most = 1; !atomic_load(&flag); most = most < 8 ? 2 * most : most)
        for (int i = 0; i < most; i++)
            sched_yield();
#elif defined(FILE_SIZE)
    struct stat status;
    do
        fstat(file, &status);
    while (status.st_size == 0);
#elif defined(PIPE)
    int bytes = 0;
    do
        ioctl(ends[0], FIONREAD, &bytes);
    while (bytes == 0);
#endif
    return unused;
}

static void *set(void *unused) {
#ifdef TRY_JOIN
    while (!comes && !atomic_load(&flag)) {
    }
#else
    if (!comes)
        return unused;
#endif
#if defined(SIGNAL)
    pthread_kill(waiter, SIGUSR1);
#elif defined(CANCEL)
    pthread_cancel(waiter);
#elif defined(MAPPED)
    atomic_store(mapped, 1);
#elif defined(FILE_SIZE)
    ftruncate(file, 1);
#elif defined(PIPE)
    write(ends[1], "x", 1);
#elif !defined(TRY_JOIN)
    atomic_store(&flag, 1);
#endif
    return unused;
}

int main(void) {
    signal(SIGUSR1, handler);
    mapped = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    file = memfd_create("file", 0);
    pipe(ends);
#ifdef TRY_JOIN
    pthread_create(&setter, 0, set, 0);
    pthread_create(&waiter, 0, wait, 0);
    pthread_join(waiter, 0);
#else
    pthread_create(&waiter, 0, wait, 0);
    pthread_create(&setter, 0, set, 0);
    pthread_join(waiter, 0);
    pthread_join(setter, 0);
#endif
    return 0;
}
