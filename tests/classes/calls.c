/* Threads that call functions which keep something between calls: `calls OPERATION THREADS TIMES`. Small
 * letters are about one object, large ones about one object of each thread. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 4 };

static int files[MOST], pipes[MOST][2], counters[MOST];
static FILE *streams[MOST];
static char operation;
static int times;

static void call(int me)
{
    long number = 1;
    char byte = 'x';
    struct stat status;
    switch (operation) {
    case 'w': write(files[0], "x", 1); break;
    case 'W': write(files[me], "x", 1); break;
    case 'v': pwrite(files[0], "x", 1, me); break;
    case 'r': pread(files[0], &byte, 1, 0); break;
    case 't': fstat(files[0], &status); break;
    case 'f': fputc('x', streams[0]); break;
    case 'F': fputc('x', streams[me]); break;
    case 'p': write(pipes[0][1], "x", 1); break;
    case 'P': write(pipes[me][1], "x", 1); break;
    case 'e': write(counters[0], &number, 8); break;
    case 'E': write(counters[me], &number, 8); break;
    case 'n': rand(); break;
    case 's': setenv("NAME", "value", 1); break;
    case 'g': getenv("NAME"); break;
    /* One thread fills a pipe, the other takes from it, or looks how much there is. */
    case 'c':
        if (me == 0)
            write(pipes[0][1], "x", 1);
        else
            read(pipes[0][0], &byte, 1);
        break;
    case 'q':
        if (me == 0)
            write(pipes[0][1], "x", 1);
        else
            ioctl(pipes[0][0], FIONREAD, &number);
        break;
    default: abort();
    }
}

static void *work(void *argument)
{
    for (int n = 0; n < times; n++)
        call((int)(long)argument);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t threads[MOST];
    if (count != 4)
        return 2;
    operation = arguments[1][0];
    int all = atoi(arguments[2]);
    times = atoi(arguments[3]);
    for (int n = 0; n < MOST; n++) {
        files[n] = open(".", O_RDWR | O_TMPFILE, 0600);
        streams[n] = tmpfile();
        counters[n] = eventfd(0, 0);
        if (files[n] < 0 || !streams[n] || counters[n] < 0 || pipe(pipes[n]))
            return 3;
    }
    for (long n = 0; n < all; n++)
        pthread_create(&threads[n], NULL, work, (void *)n);
    for (int n = 0; n < all; n++)
        pthread_join(threads[n], NULL);
    return 0;
}
