/* One thread looks again and again whether another one has done something: `polling WAY
 * DIRECTORY`; with another argument, nobody ever does. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static int ends[2], file;

/* How it looks. */
static enum { FIONREAD_, POLL, SELECT, RECV, READ, STAT, ACCESS, OPEN, FSTAT, PREAD, LSEEK, GETENV, FCNTL, WAYS } way;
static const char *const names[WAYS] = {"fionread", "poll", "select", "recv", "read", "stat", "access", "open",
                                        "fstat", "pread", "lseek", "getenv", "fcntl"};

/* Is it there? */
static int look(void)
{
    char byte;
    int count = 0, found;
    struct stat status;
    struct pollfd one = {ends[0], POLLIN, 0};
    struct timeval none = {0, 0};
    fd_set set;
    switch (way) {
    case FIONREAD_: return ioctl(ends[0], FIONREAD, &count) == 0 && count > 0;
    case POLL: return poll(&one, 1, 0) == 1;
    case SELECT:
        FD_ZERO(&set);
        FD_SET(ends[0], &set);
        return select(ends[0] + 1, &set, NULL, NULL, &none) == 1;
    case RECV: return recv(ends[0], &byte, 1, MSG_DONTWAIT) == 1;
    case READ: return read(ends[0], &byte, 1) == 1;
    case STAT: return stat("there", &status) == 0;
    case ACCESS: return access("there", F_OK) == 0;
    case OPEN:
        found = open("there", O_RDONLY);
        if (found >= 0)
            close(found);
        return found >= 0;
    case FSTAT: return fstat(file, &status) == 0 && status.st_size > 0;
    case PREAD: return pread(file, &byte, 1, 0) == 1;
    case LSEEK: return lseek(file, 0, SEEK_END) > 0;
    case GETENV: return getenv("THERE") != NULL;
    case FCNTL: return fcntl(file, F_GETFL) & O_APPEND;
    default: abort();
    }
}

static void *wait_for(void *argument)
{
    while (!look()) {
    }
    return argument;
}

static void *make(void *argument)
{
    switch (way) {
    case STAT:
    case ACCESS:
    case OPEN: close(open("there", O_CREAT | O_WRONLY, 0600)); break;
    case FSTAT:
    case PREAD:
    case LSEEK: pwrite(file, "x", 1, 0); break;
    case GETENV: setenv("THERE", "1", 1); break;
    case FCNTL: fcntl(file, F_SETFL, O_APPEND); break;
    default: write(ends[1], "x", 1);
    }
    return argument;
}

int main(int count, char **arguments)
{
    pthread_t waiter, maker;
    if (count < 3 || chdir(arguments[2]))
        return 2;
    while (way < WAYS && strcmp(arguments[1], names[way]))
        way++;
    int is_made = count == 3;
    unlink("there");
    file = open(".", O_RDWR | O_TMPFILE, 0600);
    if (way == RECV)
        socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
    else if (pipe2(ends, way == READ ? O_NONBLOCK : 0))
        return 3;
    pthread_create(&waiter, NULL, wait_for, NULL);
    if (is_made)
        pthread_create(&maker, NULL, make, NULL);
    pthread_join(waiter, NULL);
    if (is_made)
        pthread_join(maker, NULL);
    return 0;
}
