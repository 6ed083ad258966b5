/* Two threads, then something is done to the state of the process, of the sort that the argument
 * names. Each execution has to find everything as it was in the beginning: the exit status is 1 if
 * it does not. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static __thread int local = 7;
static int data = 5, zero, order[2], taken;
static unsigned steps = 1;
static char pages[64 << 10] = {1};
static char *block;
static const char *what;

static int is(const char *name)
{
    return strcmp(what, name) == 0;
}

static void need(int condition)
{
    if (!condition)
        _exit(1);
}

/* Pages before the threads begin, by their numbers: 0 to 5 hold what belongs to them, 6 and 7 may not
 * be accessed, 8 to 11 were never touched, 12 to 15 are not there. */
enum { PAGE = 4096, WINDOW = 16 };
static char *const window = (char *)0x700000000000;

static void *map(int first, int count, int access)
{
    return mmap(window + first * PAGE, count * PAGE, access,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

static void open_window(void)
{
    map(0, 12, PROT_READ | PROT_WRITE);
    mprotect(window + 6 * PAGE, 2 * PAGE, PROT_NONE);
    for (int i = 0; i < 6; i++)
        window[i * PAGE] = 'a' + i;
}

/* Prints the first byte of each page: what it holds, or that it cannot be read. */
static void show_window(void)
{
    for (int i = 0; i < WINDOW; i++)
        if (write(1, window + i * PAGE, 1) != 1)
            need(write(1, "-", 1) == 1);
}

/* Writes to those pages that can be written, which the kernel is asked about. */
static void write_window(unsigned value)
{
    for (int i = 0; i < WINDOW; i++) {
        struct stat *probe = (struct stat *)(window + i * PAGE);
        if (fstat(1, probe) == 0)
            window[i * PAGE] = 'A' + (value + i) % 26;
    }
}

/* Changes of the window in an order that follows from `seed`. */
static void change_window(unsigned seed)
{
    static const int access[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE};
    show_window();
    for (int i = 0; i < 8; i++) {
        seed = seed * 1103515245u + 12345u;
        unsigned r = seed >> 8;
        int first = r % WINDOW, count = 1 + (r >> 4) % (WINDOW - first);
        char *at = window + first * PAGE;
        switch ((r >> 8) % 5) {
        case 0:
            need(map(first, count, access[(r >> 12) % 3]) == at);
            break;
        case 1:
            need(munmap(at, count * PAGE) == 0);
            break;
        case 2: /* fails where something is not there, after the pages before it */
            mprotect(at, count * PAGE, access[(r >> 12) % 3]);
            break;
        case 3:
            madvise(at, count * PAGE, MADV_DONTNEED);
            break;
        default:
            write_window(r >> 12);
        }
    }
    show_window();
}

/* Recursion that the compiler cannot turn into a loop. */
static int deep(int n)
{
    volatile char frame[1024];
    frame[0] = n;
    return n == 0 ? 0 : deep(n - 1) + frame[0] - (char)n;
}

static void at_exit(void)
{
    printf("handler of %d and %d\n", order[0], order[1]);
}

static void memory(void)
{
    need(data == 5 && zero == 0 && local == 7 && errno == 0 && getenv("SECOND") == 0);
    data = zero = local = errno = 9;
    for (unsigned i = 0; i < sizeof pages; i += 4096) {
        need(pages[i] == (i == 0));
        pages[i] = 2;
    }
    need(block[0] == 'b' && block[9999] == 'b');
    memset(block, 'c', 10000);
    free(block);
    setenv("SECOND", "set", 1);
    atexit(at_exit);
    need(deep(10) == 0);
}

static void kernel(void)
{
    if (is("umask"))
        need(umask(0777) != 0777);
    if (is("folder")) {
        char path[4096];
        need(getcwd(path, sizeof path) != 0 && strcmp(path, "/") != 0 && chdir("/") == 0);
    }
    if (is("descriptor"))
        need(dup(1) == dup(1) - 1 && fcntl(20, F_GETFD) < 0 && dup2(1, 20) == 20);
    if (is("closed"))
        need(write(2, "", 0) == 0 && close(2) == 0);
    if (is("input")) {
        char first = 0;
        need(read(0, &first, 1) == 1 && first == 'a');
    }
    if (is("limit")) {
        struct rlimit limit;
        need(getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur != 99);
        limit.rlim_cur = 99;
        need(setrlimit(RLIMIT_NOFILE, &limit) == 0);
    }
    if (is("signal")) {
        struct sigaction action;
        need(sigaction(SIGUSR1, 0, &action) == 0 && action.sa_handler == SIG_DFL);
        need(signal(SIGUSR1, SIG_IGN) == SIG_DFL);
    }
    if (is("window"))
        change_window(steps);
    if (is("anywhere")) {
        char *first = mmap(0, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        need(first[PAGE] == 0 && mprotect(first, PAGE, PROT_NONE) == 0);
        first[PAGE] = 1;
        char *second = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        need(second[0] == 0 && munmap(first, order[0] == '1' ? PAGE : 3 * PAGE) == 0);
        second[0] = 1;
        printf("%p, %p\n", (void *)first, (void *)second);
    }
    if (is("remapped"))
        need(mremap(window, 2 * PAGE, PAGE, 0) == window);
    if (is("advised"))
        need(madvise(window, PAGE, MADV_DONTDUMP) == 0);
    if (is("undumped") || is("file"))
        need(munmap(window + WINDOW * PAGE, PAGE) == 0);
    if (is("shared"))
        need(mmap(0, PAGE, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
    if (is("deep"))
        need(deep(1000) == 0);
}

static void *work(void *name)
{
    pthread_mutex_lock(&lock);
    order[taken++] = *(char *)name;
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 4; i++) {
        pthread_mutex_lock(&lock);
        steps = steps * 31 + *(char *)name;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "memory";
    block = malloc(10000);
    memset(block, 'b', 10000);
    open_window();
    if (is("undumped")) {
        map(WINDOW, 1, PROT_READ | PROT_WRITE);
        madvise(window + WINDOW * PAGE, PAGE, MADV_DONTDUMP);
    }
    if (is("file")) {
        int fd = open(argv[0], O_RDONLY);
        mmap(window + WINDOW * PAGE, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
        close(fd);
    }
    pthread_t s, t;
    pthread_create(&s, 0, work, "1");
    pthread_create(&t, 0, work, "2");
    pthread_join(s, 0);
    pthread_join(t, 0);
    memory();
    kernel();
    printf("%c came before %c\n", order[0], order[1]);
    return order[0] == '1' ? 0 : 3;
}
