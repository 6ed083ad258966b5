/* Calls that are not under control. The argument says which. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void *work(void *what)
{
    if (strcmp(what, "pause") == 0)
        syscall(SYS_pause);
    if (strcmp(what, "io_uring") == 0)
        syscall(SYS_io_uring_enter, -1, 0, 0, 0, 0, 0);
    if (strcmp(what, "fork") == 0 && syscall(SYS_fork) == 0)
        _exit(0);
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
