/* A call that fails before it accesses what it is given, while another thread takes that away: no crash, in
 * whatever order. -DCALL=N chooses the call; without a bad argument (-DSUCCEEDS), there is one. With -DWRITES the
 * thread writes there instead: a race only with a call that succeeds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifdef SUCCEEDS
enum { CLOCK = CLOCK_REALTIME, SIGNAL = SIGUSR1 };
#define FILE_NAME "/"
#else
enum { CLOCK = 99, SIGNAL = 99 };
#define FILE_NAME "/nonexistent"
#endif

static void *page;

static void *takes(void *unused)
{
#ifdef WRITES
    *(char *)page = 1;
#else
    mprotect(page, 4096, PROT_NONE);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_create(&thread, 0, takes, 0);
    switch (CALL) {
    case 0: clock_gettime(CLOCK, page); break;
    case 1: sigaction(SIGNAL, 0, page); break;
    case 2: statvfs(FILE_NAME, page); break;
    /* Those that only fail here. */
    case 3: sigaction(99, page, 0); break;
    case 4: fcntl(-1, F_SETLK, page); break;
    case 5: fcntl(-1, F_GETLK, page); break;
    case 6: tcgetattr(-1, page); break;
    case 7: fstatvfs(-1, page); break;
    case 8: clock_getres(99, page); break;
    case 9: getrlimit(99, page); break;
    case 10: setrlimit(99, page); break;
    case 11: (void)!write(-1, page, 1); break;
    case 12: (void)!read(-1, page, 1); break;
    case 13: (void)!pread(-1, page, 1, 0); break;
    case 14: fstat(-1, page); break;
    case 15: stat("/nonexistent", page); break;
    case 16: lstat("/nonexistent", page); break;
    case 17: (void)!readlink("/nonexistent", page, 100); break;
    case 18: getrusage(77, page); break;
    case 19: getitimer(77, page); break;
    case 20: setitimer(77, page, 0); break;
    case 21: clock_nanosleep(99, 0, page, 0); break;
    }
    pthread_join(thread, 0);
    return 0;
}
