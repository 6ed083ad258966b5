/* What the programs here share: each has modes, and the exit status of a mode is its outcome. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mode {
    const char *name;
    int (*run)(void);
};

#define MODE(name) {#name, name}

static inline void check(int holds)
{
    if (!holds)
        abort();
}

static inline pthread_t start(void *(*work)(void *), void *argument)
{
    pthread_t thread;
    check(!pthread_create(&thread, 0, work, argument));
    return thread;
}

/* Runs the mode that the command line names; without one, prints the names of all. */
static inline int run_mode(const struct mode *modes, int count, int argc, char **argv)
{
    for (int i = 0; i < count; i++) {
        if (argc == 2 && !strcmp(argv[1], modes[i].name))
            return modes[i].run();
        if (argc == 1)
            puts(modes[i].name);
    }
    return argc == 1 ? 0 : 99;
}

#define MAIN                                                              \
    int main(int argc, char **argv)                                       \
    {                                                                     \
        return run_mode(modes, sizeof modes / sizeof *modes, argc, argv); \
    }
