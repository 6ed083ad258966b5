/* Does not end by itself, or leaves something behind: hang MODE MARK, where MARK only makes its
 * processes recognisable.
 *   compute, block   after a controlled lock, an endless loop or a system call behind the C
 *                    library's back
 *   family           processes that outlive it: a child, one in another group, a daemon
 *   lineage          the same, and then it blocks */
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void block(void)
{
    for (;;) {
        long result;
        __asm__ volatile("syscall" : "=a"(result) : "a"(SYS_pause) : "rcx", "r11", "memory");
    }
}

static void family(void)
{
    if (fork() == 0)
        block();
    if (fork() == 0) {
        setpgid(0, 0);
        block();
    }
    if (fork() == 0) {
        if (fork() == 0) {
            setsid();
            block();
        }
        _exit(0);
    }
}

static void *work(void *mode)
{
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    if (strcmp(mode, "compute") == 0)
        for (;;)
            ;
    if (strcmp(mode, "block") == 0)
        block();
    family();
    if (strcmp(mode, "lineage") == 0)
        block();
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t t;
    if (argc < 2)
        return 2;
    pthread_create(&t, 0, work, argv[1]);
    pthread_join(t, 0);
    return 0;
}
