/* Parsing, matching, compressing, interpreting. */
#include "plain.h"
#include <setjmp.h>
#include <stdarg.h>

static void tell(const char *what, int64_t value)
{
    say("%s %lld\n", what, (long long)value);
    note((uint64_t)value);
}

static void words(void)
{
    int count = 0, longest = 0, length = 0;
    for (int i = 0; i <= LEN; i++) {
        if (isalpha(data[i])) {
            length++;
        } else if (length) {
            count++;
            if (length > longest)
                longest = length;
            length = 0;
        }
    }
    tell("words", count);
    tell("longest", longest);
}

static void tokens(void)
{
    char copy[LEN + 1];
    memcpy(copy, data, sizeof copy);
    for (char *one = strtok(copy, " ,"); one; one = strtok(NULL, " ,")) {
        say("[%s]", one);
        note(strlen(one));
    }
}

static jmp_buf wrong;
static const byte *at;

static long sum_of(void);

static long factor(void)
{
    while (*at == ' ')
        at++;
    if (*at == '-')
        return at++, -factor();
    if (*at == '(') {
        at++;
        long value = sum_of();
        if (*at++ != ')')
            longjmp(wrong, 1);
        return value;
    }
    if (!isdigit(*at))
        longjmp(wrong, 2);
    char *end;
    long value = strtol((const char *)at, &end, 10);
    at = (const byte *)end;
    return value;
}

static long product(void)
{
    long value = factor();
    for (;;) {
        while (*at == ' ')
            at++;
        if (*at == '*')
            at++, value *= factor();
        else if (*at == '/') {
            at++;
            long by = factor();
            if (!by)
                longjmp(wrong, 3);
            value /= by;
        } else
            return value;
    }
}

static long sum_of(void)
{
    long value = product();
    for (;;) {
        if (*at == '+')
            at++, value += product();
        else if (*at == '-')
            at++, value -= product();
        else
            return value;
    }
}

static void calculator(void)
{
    at = data + 21;
    int failed = setjmp(wrong);
    tell(failed ? "wrong" : "value", failed ? failed : sum_of());
}

static int match_here(const char *pattern, const byte *text)
{
    if (!*pattern)
        return 1;
    if (pattern[1] == '*') {
        do {
            if (match_here(pattern + 2, text))
                return 1;
        } while (*text && (*text++ == *pattern || *pattern == '.'));
        return 0;
    }
    if (*pattern == '$' && !pattern[1])
        return !*text;
    return *text && (*pattern == '.' || *pattern == *text) && match_here(pattern + 1, text + 1);
}

static void regex(void)
{
    static const char *const patterns[] = {"q.*k", "br[", "fox,", "o.x", ".*)$", "z"};
    for (int i = 0; i < 6; i++) {
        int found = -1;
        for (int from = 0; from < LEN && found < 0; from++)
            if (match_here(patterns[i], data + from))
                found = from;
        tell(patterns[i], found);
    }
}

static int wild(const char *pattern, const byte *text)
{
    for (; *pattern; pattern++, text++) {
        if (*pattern == '*') {
            for (; *text; text++)
                if (wild(pattern + 1, text))
                    return 1;
            return wild(pattern + 1, text);
        }
        if (!*text || (*pattern != '?' && *pattern != *text))
            return 0;
    }
    return !*text;
}

static void glob(void)
{
    tell("a", wild("T?e*fox*", data));
    tell("b", wild("*cat*", data));
}

static void search(void)
{
    static const char what[] = "own fo";
    int fail[7] = {0}, k = 0;
    for (int i = 1; what[i]; i++) {
        while (k && what[i] != what[k])
            k = fail[k - 1];
        fail[i] = what[i] == what[k] ? ++k : k;
    }
    k = 0;
    for (int i = 0; i < LEN; i++) {
        while (k && data[i] != (byte)what[k])
            k = fail[k - 1];
        if (data[i] == (byte)what[k] && !what[++k]) {
            tell("found", i);
            k = fail[k - 1];
        }
    }
    tell("library", strstr((char *)data, what) ? 1 : 0);
}

static void base64(void)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i + 2 < LEN; i += 3) {
        uint32_t x = (uint32_t)data[i] << 16 | (uint32_t)data[i + 1] << 8 | data[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6) {
            char digit = digits[x >> shift & 63];
            say("%c", digit);
            note((byte)digit);
        }
    }
}

static void hex(void)
{
    char text[2 * LEN + 1], back[LEN];
    for (int i = 0; i < LEN; i++)
        snprintf(text + 2 * i, 3, "%02x", data[i]);
    for (int i = 0; i < LEN; i++) {
        unsigned value = 77;
        sscanf(text + 2 * i, "%2x", &value);
        back[i] = (char)value;
    }
    say("%s\n", text);
    tell("same", memcmp(back, data, LEN));
}

static void runs(void)
{
    byte packed[2 * LEN], plain[LEN];
    int n = 0, m = 0;
    for (int i = 0; i < LEN;) {
        int run = 1;
        while (i + run < LEN && data[i + run] / 64 == data[i] / 64)
            run++;
        packed[n++] = (byte)run, packed[n++] = data[i] / 64;
        i += run;
    }
    for (int i = 0; i < n; i += 2) {
        memset(plain + m, packed[i + 1], packed[i]);
        m += packed[i];
    }
    for (int i = 0; i < m; i++)
        say("%d", plain[i]), note(plain[i]);
}

static void pairs(void)
{
    /* A window of earlier bytes, as LZ77 has. */
    for (int i = 0; i < LEN;) {
        int best = 0, from = 0;
        for (int j = 0; j < i; j++) {
            int n = 0;
            while (i + n < LEN && data[j + n] == data[i + n])
                n++;
            if (n > best)
                best = n, from = i - j;
        }
        say("(%d,%d,%d)", from, best, data[i + best]);
        note((uint64_t)(from * 100 + best));
        i += best + 1;
    }
}

static void front(void)
{
    byte order[256];
    for (int i = 0; i < 256; i++)
        order[i] = (byte)i;
    for (int i = 0; i < LEN; i++) {
        int k = 0;
        while (order[k] != data[i])
            k++;
        tell("place", k);
        memmove(order + 1, order, (size_t)k);
        order[0] = data[i];
    }
}

static void distance(void)
{
    static const char other[] = "A quicker brown box";
    int row[LEN + 1];
    for (int j = 0; j <= LEN; j++)
        row[j] = j;
    for (int i = 1; other[i - 1]; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= LEN; j++) {
            int best = diagonal + (data[j - 1] != (byte)other[i - 1]);
            if (row[j] + 1 < best)
                best = row[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            diagonal = row[j];
            row[j] = best;
        }
    }
    tell("distance", row[LEN]);
}

static void palindrome(void)
{
    int best = 0;
    for (int middle = 0; middle < LEN; middle++)
        for (int even = 0; even < 2; even++) {
            int i = middle, j = middle + even;
            while (i >= 0 && j < LEN && tolower(data[i]) == tolower(data[j]))
                i--, j++;
            if (j - i - 1 > best)
                best = j - i - 1;
        }
    tell("palindrome", best);
}

static void utf8(void)
{
    int points = 0, bad = 0;
    for (int i = 0; i < LEN; i++) {
        int more = data[i] < 0x80 ? 0 : data[i] >> 5 == 6 ? 1 : data[i] >> 4 == 14 ? 2 : -1;
        while (more > 0 && i + 1 < LEN && data[i + 1] >> 6 == 2)
            more--, i++;
        more ? bad++ : points++;
    }
    tell("points", points);
    tell("bad", bad);
}

static void roman(void)
{
    static const struct {
        int value;
        const char *text;
    } all[] = {{100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"}, {10, "X"},
               {9, "IX"},  {5, "V"},   {4, "IV"}, {1, "I"}};
    char text[64] = "";
    int n = data[0];
    for (int i = 0; i < 9; i++)
        for (; n >= all[i].value; n -= all[i].value)
            strcat(text, all[i].text);
    say("%s\n", text);
    note(strlen(text));
}

static void machine(void)
{
    int stack[40] = {1, 2}, top = 2;
    for (int i = 0; i < LEN; i++)
        switch (data[i] % 6) {
        case 0:
            stack[top++] = data[i];
            break;
        case 1:
            if (top > 1)
                top--, stack[top - 1] += stack[top];
            break;
        case 2:
            if (top > 1)
                top--, stack[top - 1] ^= stack[top];
            break;
        case 3:
            stack[top] = stack[top - 1], top++;
            break;
        default:
            stack[top - 1] *= 3;
        }
    for (int i = 0; i < top; i++)
        tell("stack", stack[i]);
}

/* Computed jumps. */
static void threaded(void)
{
    static const void *const places[] = {&&add, &&twice, &&less, &&skip};
    int value = 1, i = 0;
next:
    if (i >= LEN)
        return tell("value", value);
    goto *places[data[i++] & 3];
add:
    value += data[i];
    goto next;
twice:
    value = (value * 2) & 0xffff;
    goto next;
less:
    value -= 7;
    goto next;
skip:
    i++;
    goto next;
}

static int total(int count, ...)
{
    va_list list;
    int sum = 0;
    va_start(list, count);
    while (count-- > 0)
        sum = sum * 3 + va_arg(list, int);
    va_end(list);
    return sum;
}

static void variadic(void)
{
    tell("sum", total(4, data[0], data[1], data[2], data[3]));
    tell("long", total(8, 1, 2, 3, 4, 5, 6, data[7], data[8]));
}

static void life(void)
{
    byte cells[8][8];
    for (int i = 0; i < 64; i++)
        cells[i / 8][i % 8] = data[i / 2] >> (i % 2 * 4) & 1;
    for (int turn = 0; turn < 3; turn++) {
        byte next[8][8];
        for (int i = 0; i < 64; i++) {
            int near = 0;
            for (int k = 0; k < 9; k++)
                if (k != 4)
                    near += cells[(i / 8 + k / 3 + 7) % 8][(i % 8 + k % 3 + 7) % 8];
            next[i / 8][i % 8] = near == 3 || (near == 2 && cells[i / 8][i % 8]);
        }
        memcpy(cells, next, sizeof cells);
    }
    for (int i = 0; i < 8; i++)
        tell("row", cells[i][0] * 4 + cells[i][3] * 2 + cells[i][7]);
}

int main(int argc, char **argv)
{
    static const struct program all[] = {
        {"words", words},         {"tokens", tokens},     {"calculator", calculator},
        {"regex", regex},         {"glob", glob},         {"search", search},
        {"base64", base64},       {"hex", hex},           {"runs", runs},
        {"pairs", pairs},         {"front", front},       {"distance", distance},
        {"palindrome", palindrome}, {"utf8", utf8},       {"roman", roman},
        {"machine", machine},     {"threaded", threaded}, {"variadic", variadic},
        {"life", life},
    };
    return run_one(argc, argv, all, sizeof all / sizeof *all);
}
