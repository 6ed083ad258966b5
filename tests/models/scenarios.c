/* Programs of one to three input bytes that decide by functions of the C library, or in wide numbers
 * and vectors; the exit status is the result. With -DBRUTE the program tries every input and prints every status. */
#define _GNU_SOURCE
#include <argp.h>
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

typedef unsigned char byte;

static int signed_order(const void *a, const void *b)
{
    return *(const signed char *)a - *(const signed char *)b;
}

typedef __int128 wide;
typedef byte lanes __attribute__((vector_size(16)));

static wide scaled(wide x, unsigned long by)
{
    return x * by - 7;
}

/* Numbers of 128 bits: the halves take part in every outcome. */
static int wide_numbers(const byte *in)
{
    wide n = ((wide)(signed char)in[0] << 70) + in[1];
    wide m = scaled(in[0], 0xfedcba9876543210);
    return (n < 0) + 2 * (n >> 70 == 5) + 4 * ((unsigned long)(m >> 64) == 77) +
           8 * (n / 9 == (wide)-7 << 70) + 16 * (__builtin_popcountll((unsigned long)n) == 8);
}

/* Bytes of a vector: arithmetic, comparison, an element chosen by an input. */
static int vector_elements(const byte *in)
{
    lanes all = {in[0], in[1], 3, 4};
    all = (all ^ 0x5a) + (lanes){1, 2};
    lanes great = (lanes)(all > 200);
    return (great[0] & 1) + (great[1] & 2) + 4 * (all[in[1] & 3] == 17) + 8 * (all[2] == in[0]);
}

/* Atomics of 16 bytes: what they find, and what they leave. */
static int wide_atomics(const byte *in)
{
    static wide x;
    wide n = ((wide)(signed char)in[0] << 66) + in[1], seen, expected;
    int won;
    __atomic_store_n(&x, n, 5);
    seen = __atomic_fetch_add(&x, n, 5);
    seen ^= __atomic_sub_fetch(&x, 5, 5) << 1;
    seen += __atomic_fetch_or(&x, (wide)3 << 80, 5);
    seen -= __atomic_fetch_and(&x, ~((wide)1 << 70), 5);
    seen ^= __atomic_xor_fetch(&x, (wide)in[1] << 64, 5);
    seen += __atomic_fetch_nand(&x, ~(wide)in[0], 5);
    seen -= __atomic_exchange_n(&x, seen << 1, 5);
    expected = __atomic_load_n(&x, 5) + (in[0] & 2);
    won = __atomic_compare_exchange_n(&x, &expected, n, 0, 5, 5);
    won += __atomic_compare_exchange_n(&x, &(wide){9}, (wide)1 << 100, 0, 5, 5);
    return won + 2 * (seen >> 66 == 5) + 4 * ((expected >> 68 & 7) == 3) +
           8 * (__atomic_load_n(&x, 5) == (wide)1 << 100) + 16 * ((seen & 255) == 77);
}

/* Atomics of odd sizes, which are left to libatomic. */
typedef struct {
    long word[3];
} large;
typedef struct {
    byte each[3];
} odd;

static int large_atomics(const byte *in)
{
    static large x;
    static odd y;
    large a = {{in[0], 2, in[1]}}, b = {{7, in[0], 1}}, old, expected = {{5, 2, 9}};
    odd c = {{in[1], 1, 2}}, d = {{3, 1, 2}}, last;
    int won, other;
    __atomic_store(&x, &a, 5);
    won = __atomic_compare_exchange(&x, &expected, &b, 0, 5, 5);
    __atomic_exchange(&x, &a, &old, 5);
    __atomic_store(&y, &c, 5);
    other = __atomic_compare_exchange(&y, &d, &(odd){{1, 1, in[0]}}, 0, 5, 5);
    __atomic_load(&y, &last, 5);
    return won + 2 * (old.word[1] == 5) + 4 * other + 8 * (last.each[2] == 77) +
           16 * (expected.word[2] == 6) + 32 * (d.each[0] == 8);
}

/* Calls of libatomic by name. */
wide __atomic_load_16(const volatile void *, int);
void __atomic_store_16(volatile void *, wide, int);
wide __atomic_exchange_16(volatile void *, wide, int);
_Bool __atomic_compare_exchange_16(volatile void *, void *, wide, int, int);
wide __atomic_fetch_add_16(volatile void *, wide, int);
unsigned __atomic_fetch_sub_4(volatile void *, unsigned, int);
byte __atomic_or_fetch_1(volatile void *, byte, int);

static int named_atomics(const byte *in)
{
    static wide x;
    static unsigned y;
    static byte z;
    wide n = ((wide)in[0] << 70) + in[1], expected = ((wide)3 << 70) + 9, old;
    int won;
    __atomic_store_16(&x, n, 5);
    won = __atomic_compare_exchange_16(&x, &expected, n + 1, 5, 5);
    old = __atomic_exchange_16(&x, n - 1, 5);
    old += __atomic_fetch_add_16(&x, 2, 5);
    y = in[0], z = 0;
    old += __atomic_fetch_sub_4(&y, 200, 5);
    old += __atomic_or_fetch_1(&z, in[1], 5);
    return won + 2 * (old >> 71 == 5) + 4 * (__atomic_load_16(&x, 5) == (wide)6 << 70) +
           8 * (y == 4) + 16 * (expected >> 70 == 8) + 32 * ((old & 255) == 50);
}

static int scenario(byte *in)
{
    char text[8] = {(char)in[0], (char)in[1], (char)in[2]};
    char other[8] = "";
    char *end = text, *copy;
    int result = 0, number = 0;
    unsigned second = 0;
    (void)signed_order, (void)copy, (void)number, (void)second;
    switch (SCENARIO) {
    case 1:
        return strcmp(text, "go") == 0 ? 1 : strcmp(text, "go") < 0 ? 2 : strlen(text) == 1 ? 3 : 4;
    case 2:
        return memcmp(text, "ab", 2) == 0 ? 5 : memchr(text, ';', 2) ? 6 : 7;
    case 3:
        result = atoi(text);
        return result == 42 ? 1 : result < 0 ? 2 : result == 7 ? 3 : 0;
    case 4:
        result = (int)strtol(text, &end, 16);
        return 16 * (end - text) + (result == 0xb ? 1 : result == 0xbe ? 2 : 0);
    case 5:
        return !!isdigit(in[0]) + 2 * !!isalpha(in[1]) + 4 * (toupper(in[0]) == 'Q') +
               8 * !!isspace(in[1]);
    case 6:
        qsort(text, 3, 1, signed_order);
        if (signed_order(text, text + 1) > 0 || signed_order(text + 1, text + 2) > 0)
            return 9;
        return (text[0] == text[1]) + 2 * (text[1] == text[2]);
    case 7:
        strcpy(other, "k=");
        strcat(other, text);
        copy = strdup(strchr(other, '=') + 1);
        result = !copy ? 9 : strrchr(copy, '/') ? 1 : strcspn(copy, "!?") == 1 ? 2 : 3;
        free(copy);
        return result;
    case 8:
        copy = bsearch(in, "\x02\x05\x09", 3, 1, signed_order);
        return copy ? 10 + *copy : 1;
    case 9:
        /* What is printed decides nothing. */
        printf("%s %d\n", text, in[0]);
        putchar(in[1]);
        fputs("\n", stdout);
        return text[0] == 'x' ? 1 : 0;
    case 11:
        /* Without a model. */
        return strverscmp(text, "b") == 77;
    case 12:
        result = sscanf(text, "%d-%x", &number, &second);
        return result == 2 ? 10 + second : result == 1 && number > 8 ? 1 : result < 0 ? 2 : 3;
    case 13:
        copy = strtok(text, ",");
        copy = copy ? strtok(NULL, ",") : text;
        return !copy ? 1 : copy == text ? 2 : *copy == '7' ? 3 : 4;
    case 14:
        /* A format without a model. */
        return sscanf(text, "%f", (float *)other) == 77;
    case 15:
        copy = text;
        return argp_parse(&(struct argp){0}, 2, (char *[]){"program", text, NULL},
                          ARGP_NO_ERRS | ARGP_NO_EXIT, NULL, NULL) == 77;
    case 16:
        return wide_numbers(in);
    case 17:
        return vector_elements(in);
    case 18:
        number = (int)htonl(in[0] << 16 | in[1] << 9);
        return (number == 0x00044200) + 2 * (number < 0) + 4 * (ntohs((uint16_t)(in[0] + 1)) == 256) +
               8 * (ntohl(htonl(in[0])) == in[0]);
    case 19:
        copy = memccpy(other, text, ';', 3);
        return (memmem(text, 3, "ab", 2) != NULL) + 2 * (strcasestr(text, "gO") != NULL) +
               4 * (copy == other + 2) + 8 * (stpncpy(other, text, 3) == other + 1);
    case 20:
        strcpy(other, text);
        strncat(other, "+-", (size_t)in[0] & 1);
        result = 4 * (other[1] == '+') + 8 * (strlen(other) == 3);
        copy = stpcpy(other, text);
        strcat(other, "!");
        return result + 16 * (*copy == '!') + 32 * (other[1] == '!');
    case 21: {
        char little[BYTES];
        strcpy(little, text);
        return little[0] == 'x';
    }
    case 22:
        return wide_atomics(in);
    case 23:
        return large_atomics(in);
    case 24:
        return named_atomics(in);
    case 25:
        /* The text is behind two pointers. */
        copy = text;
        return getsubopt(&copy, (char *[]){"ab", "c", NULL}, &end) == 77;
    case 26: {
        const char *from = text;
        return mbsrtowcs((wchar_t[4]){0}, &from, 3, NULL) == 77;
    }
    case 10:
        copy = strtok_r(text, ":", &end);
        return !copy ? 1 : strcmp(copy, "a") == 0 ? 2 : strlen(copy) == 2 ? 3 : 4;
    }
    return 99;
}

#ifdef BRUTE
int main(void)
{
    static char seen[256];
    for (int n = 0; n < 1 << 8 * BYTES; n++) {
        byte in[3] = {(byte)n, (byte)(n >> 8), (byte)(n >> 16)};
        seen[scenario(in) & 255] = 1;
    }
    puts("\nstatuses:");
    for (int i = 0; i < 256; i++)
        if (seen[i])
            printf("exit %d\n", i);
    return 0;
}
#else
void raddle_symbolic(void *at, size_t len, const char *name);

int main(void)
{
    byte in[3] = {0};
    raddle_symbolic(in, BYTES, "in");
    return scenario(in);
}
#endif
