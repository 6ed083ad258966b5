// Two threads, and one draws a random number, looks at the clock, or gets memory after it has given some back:
// `given WHAT`.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

static int shared;
static void *volatile block;

static void *other(void *argument)
{
    shared++;
    return argument;
}

int main(int count, char **arguments)
{
    pthread_t thread;
    unsigned number = 0;
    struct timespec now;
    pthread_create(&thread, NULL, other, NULL);
    if (count > 1 && !strcmp(arguments[1], "random"))
        getrandom(&number, sizeof number, 0);
    else if (count > 1 && !strcmp(arguments[1], "clock"))
        number = clock_gettime(CLOCK_REALTIME, &now) == 0;
    else if (count > 1 && !strcmp(arguments[1], "memory"))
        for (int i = 0; i < 2; i++) {
            block = malloc(8);
            free(block);
        }
    shared++;
    pthread_join(thread, NULL);
    printf("%u\n", number);
    return 0;
}
