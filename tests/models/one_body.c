/* Functions that have no symbolic body call others: what those read is followed or named. The exit
 * status says what was read. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void raddle_symbolic(void *at, size_t len, const char *name);

/* Of which the first is an input. */
static char text[4];
static char out[32];

/* Variadic. */
static __attribute__((noinline)) int measure(int what, ...)
{
    va_list list;
    va_start(list, what);
    const char *given = va_arg(list, const char *);
    va_end(list);
    switch (what) {
    case 1:
        return (int)strlen(given);
    case 2:
        return strspn(given, "k") == 1 ? 1 : strchr(given, ';') ? 2 : 0;
    default:
        return strverscmp(given, "b") == 77;
    }
}

/* Hands its list on. */
static __attribute__((noinline)) int format(const char *how, ...)
{
    va_list list;
    va_start(list, how);
    int length = vsnprintf(out, sizeof out, how, list);
    va_end(list);
    return length;
}

/* Jumps to computed places. */
static __attribute__((noinline)) int jump(int number)
{
    static const void *const places[] = {&&first, &&second};
    goto *places[number & 1];
first:
    return 7;
second:
    return atoi(text) == 3 ? 3 : strnlen(text, 1) ? 1 : 0;
}

/* A structure in memory, which the call copies. */
struct five {
    long each[5];
};

static __attribute__((noinline)) int count(struct five given, int n, ...)
{
    int found = n;
    for (int i = 0; i < 5; i++)
        found += given.each[i] == 77;
    return found;
}

/* Is left alone altogether. */
static __attribute__((noinline, disable_sanitizer_instrumentation)) int peek(const char *at)
{
    return at[0] == 77;
}

int main(void)
{
    (void)measure, (void)format, (void)jump, (void)peek, (void)count;
#if SCENARIO == 5
    /* Nothing that is symbolic. */
    strcpy(text, "ab");
    return format("%s", text) == 2 && measure(3, text) == 0 && measure(1, text) == 2 ? 0 : 9;
#else
    raddle_symbolic(text, 1, "text");
#endif
#if SCENARIO == 1
    return measure(1, text);
#elif SCENARIO == 2
    return measure(2, text);
#elif SCENARIO == 3
    return measure(3, text);
#elif SCENARIO == 4
    return format("%d %d %d %d %d %s", 1, 2, 3, 4, 5, text) == 0;
#elif SCENARIO == 6
    return jump(1);
#elif SCENARIO == 8
    struct five given = {{77, text[0], 77}};
    return count(given, 1, 2);
#elif SCENARIO == 7
    return peek(text);
#endif
}
