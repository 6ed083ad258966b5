/* What the programs share: an input that is symbolic under verify, and an output. */
#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void raddle_symbolic(void *at, size_t len, const char *name);
#ifdef PLAIN
void raddle_symbolic(void *at, size_t len, const char *name)
{
    (void)at, (void)len, (void)name;
}
#endif

#define LEN 32
typedef unsigned char byte;

/* 32 bytes that are inputs, and a text in their place where the inputs are zero. */
static byte data[LEN + 1];
static FILE *out;
static uint32_t sum = 2166136261u;

#define say(...) fprintf(out, __VA_ARGS__)

/* Goes into the exit status. */
static void note(uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        sum = (sum ^ (value & 255)) * 16777619u;
}

struct program {
    const char *name;
    void (*run)(void);
};

static int run_one(int argc, char **argv, const struct program *all, size_t count)
{
    static const char text[LEN + 1] = "The quick brown fox, 42 + 7*-(3)";
    byte input[LEN] = {0};
    if (argc != 3)
        return 120;
    if (!(out = fopen(argv[1], "w")))
        return 121;
    raddle_symbolic(input, LEN, "input");
    for (int i = 0; i < LEN; i++)
        data[i] = (byte)(text[i] ^ input[i]);
    for (size_t i = 0; i < count; i++)
        if (strcmp(all[i].name, argv[2]) == 0) {
            all[i].run();
            say("%u\n", sum);
            fclose(out);
            return (int)(sum % 100);
        }
    return 122;
}
