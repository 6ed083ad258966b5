/* Named shared memory. Modes remove their names before they begin and at their end; but the first leaves
 * its names behind where raddle controls it, which no other execution may find. */
#define _GNU_SOURCE
#include "calls.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { NEW = O_RDWR | O_CREAT | O_EXCL };
static const char *name = "/raddle-calls-memory", *other = "/raddle-calls-other";

static void clean(void)
{
    shm_unlink(name);
    shm_unlink(other);
}

static int *map(int file)
{
    int *mapped = mmap(0, sizeof *mapped, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    check(mapped != MAP_FAILED);
    return mapped;
}

static int made(void)
{
    int file = shm_open(name, NEW, 0600);
    return file < 0 ? -errno : (check(!ftruncate(file, 4096)), file);
}

static void *makes(void *unused)
{
    (void)unused;
    return (void *)(long)made();
}

/* What an execution leaves, killed or not, no other one finds. */
static int left(void)
{
    int is_controlled = getenv("RADDLE_SESSION") != 0;
    if (!is_controlled) clean();
    int file = shm_open(other, O_RDWR | O_CREAT, 0600);
    struct stat status;
    check(file >= 0 && !fstat(file, &status) && status.st_size == 0);
    check(!ftruncate(file, 4096));
    *map(file) = 1;
    pthread_t thread = start(makes, 0);
    long one = made();
    void *two;
    check(!pthread_join(thread, &two));
    int outcome = one >= 0 && (long)two == -EEXIST ? 1 : one == -EEXIST && (long)two >= 0 ? 2 : 3;
    if (!is_controlled) clean();
    return outcome;
}

static void *opens(void *unused)
{
    (void)unused;
    int file = shm_open(name, O_RDWR, 0);
    check(file >= 0 || errno == ENOENT);
    return (void *)(long)(file >= 0);
}

/* A name that is taken away cannot be opened; what is open stays. */
static int removed(void)
{
    clean();
    int *mapped = map(made());
    pthread_t thread = start(opens, 0);
    check(!shm_unlink(name) && shm_unlink(name) && errno == ENOENT);
    *mapped = 1;
    void *found;
    check(!pthread_join(thread, &found) && *mapped == 1);
    int anew = made();
    check(anew >= 0 && *map(anew) == 0);
    clean();
    return found ? 1 : 2;
}

static void *writes(void *file)
{
    *map((int)(long)file) = 7;
    return 0;
}

/* Each open has a position of its own, the rights that it asks for, and the same bytes. */
static int opened(void)
{
    clean();
    umask(027);
    int file = made(), reader = shm_open(name, O_RDONLY, 0);
    struct stat status;
    check(!fstat(file, &status) && (status.st_mode & 0777) == 0600);
    pthread_t thread = start(writes, (void *)(long)file);
    check(!pthread_join(thread, 0));
    check(write(file, "\1\2", 2) == 2 && lseek(reader, 0, SEEK_CUR) == 0);
    char byte;
    check(read(reader, &byte, 1) == 1 && byte == 1);
    check(write(reader, "x", 1) < 0 && errno == EBADF);
    check(mmap(0, 1, PROT_WRITE, MAP_SHARED, reader, 0) == MAP_FAILED && errno == EACCES);
    check(fcntl(reader, F_GETFD) == FD_CLOEXEC);
    check(shm_open(name, O_RDWR | O_TRUNC, 0) >= 0 && !fstat(file, &status) && status.st_size == 0);
    check(shm_open("/a/b", O_RDWR | O_CREAT, 0600) < 0 && errno == EINVAL);
    check(shm_unlink("/a/b") && errno == ENOENT);
    clean();
    return 1;
}

/* A child has the names that were there before it. */
static int in_child(void)
{
    clean();
    int *mapped = map(made());
    pid_t child = fork();
    if (!child) {
        int file = shm_open(name, O_RDWR, 0);
        if (file >= 0) *map(file) = 5;
        _exit(0);
    }
    check(waitpid(child, 0, 0) == child);
    clean();
    return *mapped;
}

static const struct mode modes[] = {
    MODE(left), MODE(removed), MODE(opened), MODE(in_child),
};

MAIN
