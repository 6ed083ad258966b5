// A thread makes a call that hands a page to the kernel, while another one takes the page away: CALL HOW,
// and "both" if the call may not fail, which it does where it comes second.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

static char *page;
static const char *call, *how;
static int file, ends[2], socks[2], failed;

static int is(const char *what, const char *name) { return !strcmp(what, name); }

static void *user(void *unused)
{
    struct iovec vector = {page, 8};
    struct stat stat_of;
    long result = 0;
    errno = 0;
    if (is(call, "read"))
        result = read(file, page, 8);
    else if (is(call, "write"))
        result = write(ends[1], page, 8);
    else if (is(call, "pread"))
        result = pread(file, page, 8, 0);
    else if (is(call, "readv"))
        result = readv(file, &vector, 1);
    else if (is(call, "writev"))
        result = writev(ends[1], &vector, 1);
    else if (is(call, "send"))
        result = send(socks[1], page, 8, 0);
    else if (is(call, "recv"))
        result = recv(socks[0], page, 8, MSG_DONTWAIT);
    else if (is(call, "fstat"))
        result = fstat(file, (struct stat *)page);
    else if (is(call, "stat"))
        result = stat(page, &stat_of);
    else if (is(call, "open"))
        result = open(page, O_RDONLY);
    else if (is(call, "getrandom"))
        result = getrandom(page, 8, 0);
    else if (is(call, "uname"))
        result = uname((struct utsname *)page);
    else if (is(call, "pipe"))
        result = pipe((int *)page);
    else if (is(call, "nanosleep"))
        result = nanosleep((struct timespec *)page, NULL);
    else if (is(call, "readlink"))
        result = readlink("/proc/self/exe", page, 64);
    else if (is(call, "poll"))
        result = poll((struct pollfd *)page, 1, 0);
    else if (is(call, "getcwd"))
        result = getcwd(page, 1000) ? 0 : -1;
    else
        abort();
    failed = result < 0 && errno == EFAULT;
    return unused;
}

static void *changer(void *unused)
{
    if (is(how, "munmap"))
        munmap(page, PAGE);
    else if (is(how, "mprotect"))
        mprotect(page, PAGE, PROT_NONE);
    else
        abort();
    return unused;
}

int main(int argc, char **argv)
{
    call = argv[1];
    how = argv[2];
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is(call, "stat") || is(call, "open"))
        strcpy(page, "/");
    file = open("/proc/self/exe", O_RDONLY);
    if (is(call, "send") || is(call, "recv")) {
        assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, socks));
        assert(write(socks[1], "abcdefgh", 8) == 8);
    } else if (strstr(call, "write")) {
        assert(!pipe(ends));
    }
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, user, NULL);
    pthread_create(&threads[1], NULL, changer, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    if (argc > 3)
        assert(!failed);
    return 0;
}
