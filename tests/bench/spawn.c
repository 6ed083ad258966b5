/* Runs a program N times, one after the other, with fork and exec, and prints how many a second:
 * spawn N PROGRAM ARGS... */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec from, to;
    int n = argc > 2 ? atoi(argv[1]) : 0;
    if (n < 1)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int i = 0; i < n; i++) {
        int status;
        pid_t child = fork();
        if (child == 0) {
            if (!freopen("/dev/null", "w", stdout))
                _exit(126);
            execvp(argv[2], argv + 2);
            _exit(127);
        }
        if (waitpid(child, &status, 0) != child || status != 0) {
            fprintf(stderr, "spawn: %s ended with status %d\n", argv[2], status);
            return 1;
        }
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    double seconds = (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
    printf("%.1f\n", n / seconds);
    return 0;
}
