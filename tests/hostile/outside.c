// Does to what is not its own what the argument says, then lets two threads count.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST = 1100 };

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void *add(void *unused)
{
    pthread_mutex_lock(&m);
    count++;
    pthread_mutex_unlock(&m);
    return unused;
}

// Every mapping that is shared.
static void each_shared(const char *what)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    while (fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char access[8];
        if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 || access[3] != 's')
            continue;
        void *at = (void *)from;
        if (!strcmp(what, "unmap"))
            munmap(at, to - from);
        else if (!strcmp(what, "protect"))
            mprotect(at, to - from, PROT_READ);
        else if (!strcmp(what, "move"))
            mremap(at, to - from, 4096, 0);
        else
            mmap(at, to - from, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    }
    fclose(maps);
}

static void each_descriptor(const char *what)
{
    static char bytes[4096];
    memset(bytes, 'x', sizeof bytes);
    for (int fd = 3; fd < MOST; fd++) {
        if (!strcmp(what, "close")) {
            close(fd);
        } else if (!strcmp(what, "truncate")) {
            (void)!ftruncate(fd, 0);
        } else {
            fcntl(fd, F_SETFL, O_NONBLOCK);
            for (int at = 0; at < 64; at++)
                (void)!pwrite(fd, bytes, sizeof bytes, at * 4096L);
            (void)!write(fd, bytes, sizeof bytes);
        }
    }
}

int main(int argc, char **argv)
{
    const char *what = argv[argc - 1];
    /* What is open from outside may be a pipe that nobody reads. */
    signal(SIGPIPE, SIG_IGN);
    if (!strcmp(what, "close_range"))
        close_range(3, ~0u, 0);
    else if (!strcmp(what, "closefrom"))
        closefrom(3);
    else if (!strcmp(what, "close_all"))
        closefrom(0);
    else if (!strcmp(what, "syscall"))
        syscall(SYS_close_range, 3, ~0u, 0);
    else if (!strcmp(what, "close") || !strcmp(what, "truncate") || !strcmp(what, "write"))
        each_descriptor(what);
    else
        each_shared(what);
    pthread_t one, two;
    pthread_create(&one, 0, add, 0);
    pthread_create(&two, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(two, 0);
    return count != 2;
}
