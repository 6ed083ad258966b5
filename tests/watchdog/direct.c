/* Calls that are not under control. The argument says which. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void *work(void *what)
{
    if (strcmp(what, "pause") == 0)
        syscall(SYS_pause);
    if (strcmp(what, "io_uring") == 0)
        syscall(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0);
    if (strcmp(what, "fork") == 0 && syscall(SYS_fork) == 0)
        _exit(0);
    struct addrinfo *found = 0, hints = {.ai_flags = AI_NUMERICHOST};
    if (strcmp(what, "numeric") == 0) {
        getaddrinfo("127.0.0.1", "80", 0, &found);
        getaddrinfo("::1", 0, &hints, &found);
        getaddrinfo(0, "80", 0, &found);
    }
    if (strcmp(what, "getaddrinfo") == 0)
        getaddrinfo("localhost", "80", 0, &found);
    if (strcmp(what, "gethostbyname_r") == 0) {
        char room[512];
        struct hostent entry, *result;
        int error;
        if (gethostbyname_r("localhost", &entry, room, sizeof room, &result, &error))
            _exit(3);
    }
    if (strcmp(what, "vmsplice") == 0) {
        int ends[2];
        struct iovec part = {what, 1};
        if (pipe(ends) || vmsplice(ends[1], &part, 1, 0) != 1)
            _exit(3);
    }
    if (strcmp(what, "ptrace") == 0 && ptrace(PTRACE_PEEKDATA, -1, 0, 0) != -1)
        _exit(3);
    if (strcmp(what, "device") == 0) {
        char line[8192];
        int log = open("/dev/kmsg", O_RDONLY);
        lseek(log, 0, SEEK_END);
        if (read(log, line, sizeof line) < 0)
            _exit(3);
    }
    if (strcmp(what, "fifo") == 0) {
        unlink("outside");
        if (mkfifo("outside", 0600) == 0)
            open("outside", O_RDONLY);
    }
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, argv[argc - 1]);
    pthread_join(thread, 0);
    return 0;
}
