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
    if (is("protection")) {
        static char page[8192] __attribute__((aligned(4096)));
        page[0] = page[4096] = 1;
        need(mprotect(page, 4096, PROT_READ) == 0);
    }
    if (is("mapping")) {
        char *at = mmap((void *)0x700000000000, 4096, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        need(at == (void *)0x700000000000);
        *at = 1;
    }
    if (is("deep"))
        need(deep(1000) == 0);
}

static void *work(void *name)
{
    pthread_mutex_lock(&lock);
    order[taken++] = *(char *)name;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(int argc, char **argv)
{
    what = argc > 1 ? argv[1] : "memory";
    block = malloc(10000);
    memset(block, 'b', 10000);
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
