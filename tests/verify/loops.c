/* Loops over arrays, which run as compiled where all in them is concrete and one thread's. HOW says what
 * another thread, an input or a wrong bound changes about that; FIXED, that it does not. COUNTED is how
 * many may run as compiled before that. */
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

void raddle_symbolic(void *at, unsigned long len, const char *name);

enum { SIDE = 12, CELLS = SIDE * SIDE };

static int a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
static unsigned char flags[5];
static unsigned char input[2];

__attribute__((noinline)) static void fill(int by)
{
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = by + i;
            b[i][j] = by * j;
            c[i][j] = 0;
        }
}

__attribute__((noinline)) static void multiply(int from, int to)
{
    for (int i = from; i < to; i++)
        for (int j = 0; j < SIDE; j++) {
            int sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

__attribute__((noinline)) static int sum(const int *of, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += of[i];
    return sum;
}

__attribute__((noinline)) static int all(const unsigned char *of, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += of[i];
    return sum;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int total;

static void *part(void *unused)
{
    int *block = malloc(CELLS * sizeof *block), local[CELLS];
    (void)unused;
    for (int i = 0; i < CELLS; i++)
        local[i] = block[i] = i;
    int mine = sum(block, CELLS) + sum(local, CELLS);
    free(block);
#ifdef FIXED
    pthread_mutex_lock(&lock);
#endif
    total += mine;
#ifdef FIXED
    pthread_mutex_unlock(&lock);
#endif
    return NULL;
}

static void *change(void *where)
{
    *(int *)where = 7;
    return NULL;
}

static void *raise_flags(void *unused)
{
    (void)unused;
    for (int i = 0; i < 5; i++)
        flags[i] = 1;
    return NULL;
}

#ifdef COUNTED
static int as_compiled;

/* In front of raddle's own: how many loops run as compiled. */
int raddle_sym_settled(const void *stretches, int count)
{
    int (*real)(const void *, int) = dlsym(RTLD_NEXT, "raddle_sym_settled");
    int settled = real && real(stretches, count);
    as_compiled += settled;
    return settled;
}
#endif

int main(void)
{
    pthread_t thread, other;
    fill(2);
    int expected = 0;
    for (int round = 0; round < 3; round++) {
        multiply(0, SIDE);
        expected = sum(&c[0][0], CELLS);
    }
#ifdef COUNTED
    assert(as_compiled < COUNTED);
#endif
#if HOW == 0 /* Two threads, each with arrays of its own. */
    pthread_create(&thread, NULL, part, NULL);
    pthread_create(&other, NULL, part, NULL);
    pthread_join(thread, NULL);
    pthread_join(other, NULL);
    assert(total == 2 * CELLS * (CELLS - 1));
#elif HOW == 1 /* An element changes in the middle of a sum, or before it. */
    pthread_create(&thread, NULL, change, &c[5][5]);
#ifdef FIXED
    pthread_join(thread, NULL);
    assert(sum(&c[0][0], CELLS) != expected);
#else
    assert(sum(&c[0][0], CELLS) == expected);
    pthread_join(thread, NULL);
#endif
#elif HOW == 2 /* What is around the loop waits. */
    pthread_create(&thread, NULL, raise_flags, NULL);
    while (all(flags, 5) < 5)
        __asm__ volatile("" ::: "memory");
#ifndef FIXED
    assert(all(flags, 3) < 3);
#endif
    pthread_join(thread, NULL);
#elif HOW == 3 /* An element that is an input. */
    raddle_symbolic(input, 1, "input");
    b[3][3] = input[0];
    multiply(0, SIDE);
#ifdef FIXED
    assert(c[0][3] != -1);
#else
    assert(c[0][3] != 2 * 2 * (SIDE * 3 - 3) + 2 * 99);
#endif
    (void)expected;
#elif HOW == 4 /* The length is an input, and too much for a block of the heap. */
    raddle_symbolic(input, 1, "input");
    unsigned length = input[0];
    int *block = malloc(100 * sizeof *block);
    memset(block, 0, 100 * sizeof *block);
    total += sum(block, 100);
#ifdef FIXED
    if (length <= 100)
#else
    if (length <= 101)
#endif
        total += sum(block, length);
    free(block);
#elif HOW == 5 /* Freed. */
    int *block = calloc(64, sizeof *block);
    total += sum(block, 64);
#ifdef FIXED
    total += sum(block, 64);
    free(block);
#else
    free(block);
    total += sum(block, 64);
#endif
#elif HOW == 6 /* A row too many of a variable. */
#ifdef FIXED
    multiply(1, SIDE);
#else
    multiply(1, SIDE + 1);
#endif
#elif HOW == 7 /* Memory that ends somewhere. */
    int *pages = mmap(NULL, 1 << 13, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(pages + 1024, 1 << 12);
#ifdef FIXED
    total += sum(pages, 1024);
#else
    total += sum(pages, 1 << 30);
#endif
#endif
    assert(total >= 0);
    (void)thread, (void)other, (void)part, (void)lock, (void)change, (void)raise_flags;
    return 0;
}
