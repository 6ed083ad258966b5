/* A long start that leaves something outside of the process, of the sort that the argument names;
 * then two threads. What it left is checked at the end: each execution has to find its own. */
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int *shared, fd = -1;
static const char *effect;

static int is(const char *name)
{
    return strcmp(effect, name) == 0;
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    if (is("append"))
        assert(write(fd, "x", 1) == 1);
    if (is("truncate")) {
        int log = open("log", O_WRONLY | O_APPEND);
        assert(log >= 0 && write(log, "x", 1) == 1);
        close(log);
    }
    if (is("mapping"))
        ++*shared;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void begin(void)
{
    if (is("append"))
        fd = open("file", O_CREAT | O_TRUNC | O_RDWR | O_APPEND, 0600);
    if (is("truncate"))
        close(open("log", O_CREAT | O_TRUNC | O_WRONLY, 0600));
    if (is("folder"))
        assert(mkdir("folder", 0700) == 0);
    if (is("mapping"))
        shared = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (is("stdio")) {
        FILE *file = fopen("text", "w");
        fputs("text", file);
        fclose(file);
    }
}

static void end(void)
{
    struct stat status;
    if (is("append"))
        assert(fstat(fd, &status) == 0 && status.st_size == 2);
    if (is("truncate"))
        assert(stat("log", &status) == 0 && status.st_size == 2);
    if (is("folder"))
        assert(rmdir("folder") == 0);
    if (is("mapping"))
        assert(*shared == 2);
    if (is("stdio"))
        assert(unlink("text") == 0);
}

int main(int argc, char **argv)
{
    effect = argc > 1 ? argv[1] : "none";
    volatile char *memory = malloc(8 << 20);
    for (int i = 0; i < 8 << 20; i += 64)
        memory[i] = 1;
    begin();
    pthread_t s, t;
    pthread_create(&s, 0, work, 0);
    pthread_create(&t, 0, work, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    end();
    return 0;
}
