// Two threads, and one draws a random number, looks at the clock, or gets memory where some was, or may have been,
// given back before: `given WHAT`.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int shared;
static void *volatile block;
static void *volatile theirs;
static int frees, gets;

static void *other(void *argument)
{
    shared++;
    if (frees)
        free(block);
    if (gets)
        theirs = malloc(8);
    return argument;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    unsigned number = 0;
    struct timespec now;
    const char *what = count > 1 ? arguments[1] : "";
    frees = !strcmp(what, "there") || !strcmp(what, "last");
    gets = !strcmp(what, "before");
    if (frees || gets)
        block = malloc(8);
    if (gets)
        free(block);
    pthread_create(&thread, NULL, other, NULL);
    if (!strcmp(what, "random"))
        getrandom(&number, sizeof number, 0);
    else if (!strcmp(what, "clock"))
        number = clock_gettime(CLOCK_REALTIME, &now) == 0;
    else if (!strcmp(what, "memory"))
        for (int i = 0; i < 2; i++) {
            block = malloc(8);
            free(block);
        }
    else if (!strcmp(what, "there"))
        theirs = malloc(8);
    else if (!strcmp(what, "once")) {
        block = malloc(8);
        free(block);
    }
    shared++;
    pthread_join(thread, NULL);
    printf("%u\n", number);
    return 0;
}
