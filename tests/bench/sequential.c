/* Computation by one thread, ROUNDS times: what a symbolic run costs while all is concrete, and (as a
 * third argument is given) where the bytes that it begins with are symbolic. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void raddle_symbolic(void *at, size_t len, const char *name) __attribute__((weak));

enum { BYTES = 64, NUMBERS = 4096, SIDE = 32 };

static unsigned char input[BYTES];
static uint32_t table[256];

/* Two operations a byte. */
static uint32_t hash(const unsigned char *bytes, size_t len, uint32_t state)
{
    for (size_t i = 0; i < len; i++)
        state = (state ^ bytes[i]) * 16777619u;
    return state;
}

/* A look-up a byte. */
static uint32_t checksum(const unsigned char *bytes, size_t len, uint32_t state)
{
    for (size_t i = 0; i < len; i++)
        state = table[(state ^ bytes[i]) & 255] ^ state >> 8;
    return state;
}

static int order(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static uint32_t sorted(uint32_t state)
{
    int *numbers = malloc(NUMBERS * sizeof *numbers);
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (int)(state = state * 1103515245u + 12345u);
    for (int gap = NUMBERS / 2; gap > 0; gap /= 2)
        for (int i = gap; i < NUMBERS; i++)
            for (int j = i - gap; j >= 0 && order(numbers + j, numbers + j + gap) > 0; j -= gap) {
                int swap = numbers[j];
                numbers[j] = numbers[j + gap];
                numbers[j + gap] = swap;
            }
    state = (uint32_t)numbers[0];
    free(numbers);
    return state;
}

static uint32_t product(uint32_t state)
{
    static uint32_t a[SIDE][SIDE], b[SIDE][SIDE], c[SIDE][SIDE];
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            a[i][j] = state + (uint32_t)(i * j);
            b[i][j] = state ^ (uint32_t)(i + j);
        }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            uint32_t sum = 0;
            for (int k = 0; k < SIDE; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    return hash((const unsigned char *)c, sizeof c, state);
}

/* Loops whose steps vary, within one that has a condition. */
static uint32_t sieve(uint32_t state)
{
    static unsigned char composite[2 * NUMBERS];
    int n = sizeof composite - 1, count = 0;
    memset(composite, 0, sizeof composite);
    for (int i = 2; i <= n; i++) {
        if (composite[i])
            continue;
        count++;
        for (int j = 2 * i; j <= n; j += i)
            composite[j] = 1;
    }
    return state * 31 + (uint32_t)count;
}

/* The longest common subsequence of two texts: each element depends on its neighbours. */
static uint32_t common(uint32_t state)
{
    enum { LENGTH = 200 };
    static int best[LENGTH + 1][LENGTH + 1];
    char a[LENGTH], b[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
        a[i] = (char)(state >> i % 13 & 3);
        b[i] = (char)(state >> i % 17 & 3);
    }
    for (int i = 1; i <= LENGTH; i++)
        for (int j = 1; j <= LENGTH; j++)
            if (a[i - 1] == b[j - 1])
                best[i][j] = best[i - 1][j - 1] + 1;
            else if (best[i - 1][j] > best[i][j - 1])
                best[i][j] = best[i - 1][j];
            else
                best[i][j] = best[i][j - 1];
    return state * 31 + (uint32_t)best[LENGTH][LENGTH];
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "hash";
    long rounds = argc > 2 ? atol(argv[2]) : 1;
    static unsigned char bytes[4096];
    uint32_t state = 1;
    for (uint32_t i = 0; i < 256; i++)
        table[i] = i * 2654435761u;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i);
    if (argc > 3 && raddle_symbolic)
        raddle_symbolic(input, BYTES, "input");
    for (long i = 0; i < rounds; i++) {
        if (strcmp(what, "bytes") == 0)
            state = hash(input, BYTES, state);
        if (strcmp(what, "hash") == 0)
            state = hash(bytes, sizeof bytes, state);
        if (strcmp(what, "table") == 0)
            state = checksum(bytes, sizeof bytes, state);
        if (strcmp(what, "sort") == 0)
            state = sorted(state);
        if (strcmp(what, "matrix") == 0)
            state = product(state);
        if (strcmp(what, "sieve") == 0)
            state = sieve(state);
        if (strcmp(what, "common") == 0)
            state = common(state);
    }
    printf("%u\n", state);
    return 0;
}
