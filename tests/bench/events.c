/* One operation, N times by one thread beside main: what an event costs. `switch`: two threads, N
 * yields each. `call`: a system call that needs no control; with -DRAW the program has a futex call
 * by inline assembly, for which all its system calls pass a filter. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long word;
long shared;
static long count;
static const char *what;

#ifdef RAW
void wake(void)
{
    long result;
    asm volatile("syscall"
                 : "=a"(result)
                 : "a"((long)SYS_futex), "D"(&word), "S"(129L), "d"(1L)
                 : "rcx", "r11", "memory");
}
#endif

static void *work(void *unused)
{
    if (strcmp(what, "plain") == 0)
        for (long i = 0; i < count; i++) {
            shared++;
            asm volatile("" ::: "memory");
        }
    if (strcmp(what, "atomic") == 0)
        for (long i = 0; i < count; i++)
            atomic_fetch_add(&word, 1);
    if (strcmp(what, "lock") == 0)
        for (long i = 0; i < count; i++) {
            pthread_mutex_lock(&lock);
            pthread_mutex_unlock(&lock);
        }
    if (strcmp(what, "switch") == 0)
        for (long i = 0; i < count; i++)
            sched_yield();
    if (strcmp(what, "call") == 0)
        for (long i = 0; i < count; i++)
            syscall(SYS_getppid);
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t t[2];
    what = argc > 1 ? argv[1] : "plain";
    count = argc > 2 ? atol(argv[2]) : 1000;
    int threads = strcmp(what, "switch") == 0 ? 2 : 1;
#ifdef RAW
    wake();
#endif
    for (int i = 0; i < threads; i++)
        pthread_create(&t[i], 0, work, 0);
    for (int i = 0; i < threads; i++)
        pthread_join(t[i], 0);
    return 0;
}
