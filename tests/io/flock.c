// Two threads lock two files, each through descriptors of its own. The bug: in different orders.
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

static int files[2];

static int reopen(int file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    int own = open(path, O_RDWR);
    assert(own >= 0);
    return own;
}

static void both(int first, int second) {
    int a = reopen(files[first]), b = reopen(files[second]);
#ifdef RECORDS
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    assert(fcntl(a, F_OFD_SETLKW, &lock) == 0);
    assert(fcntl(b, F_OFD_SETLKW, &lock) == 0);
    lock.l_type = F_UNLCK;
    assert(fcntl(b, F_OFD_SETLK, &lock) == 0);
#else
    assert(flock(a, LOCK_EX) == 0);
    assert(flock(b, LOCK_EX) == 0);
    assert(flock(b, LOCK_UN) == 0);
#endif
    close(a);
    close(b);
}

static void *other(void *argument) {
#ifdef FIXED
    both(0, 1);
#else
    both(1, 0);
#endif
    return argument;
}

int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++)
        files[i] = memfd_create("file", 0);
    pthread_create(&thread, NULL, other, NULL);
    both(0, 1);
    pthread_join(thread, NULL);
    return 0;
}
