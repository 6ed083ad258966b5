/* A target gone wild: it finds the memory that it shares with the controller and writes random
 * bytes there, differently in every execution, while its threads go on.
 * Arguments: which part (see `parts`), and how many writes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static unsigned char *pages;
static size_t size;

static int find_pages(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        if (strstr(line, "memfd:") && sscanf(line, "%lx-%lx", &from, &to) == 2 &&
            to - from > size) {
            pages = (unsigned char *)from;
            size = to - from;
        }
    }
    if (maps)
        fclose(maps);
    return size > 0;
}

static void scribble(size_t from, size_t length, long writes)
{
    uint64_t state = __rdtsc() | 1;
    for (long i = 0; i < writes; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        uint64_t value = state * 0x9E3779B97F4A7C15u;
        size_t at = from + (state >> 8) % (length - 8);
        memcpy(pages + at, &value, i % 2 ? 8 : 1);
    }
}

static void *work(void *unused)
{
    for (int i = 0; i < 20; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
    }
    return unused;
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "all";
    long writes = argc > 2 ? atol(argv[2]) : 100;
    pthread_t threads[2];
    if (!find_pages())
        return 3;
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, 0);
    if (strcmp(part, "head") == 0)
        scribble(0, 512, writes);
    else if (strcmp(part, "control") == 0)
        scribble(0, 256 << 10, writes);
    else if (strcmp(part, "logs") == 0)
        scribble(69u << 20, 50u << 20, writes);
    else
        scribble(0, size < (120u << 20) ? size : 120u << 20, writes);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
