/* Arithmetic, checksums, ciphers, codes. */
#include "plain.h"

static uint32_t word(int i)
{
    return data[4 * i] | (uint32_t)data[4 * i + 1] << 8 | (uint32_t)data[4 * i + 2] << 16 |
           (uint32_t)data[4 * i + 3] << 24;
}

static void tell(const char *what, uint64_t value)
{
    say("%s %llx\n", what, (unsigned long long)value);
    note(value);
}

static void crc(void)
{
    uint32_t c = ~0u;
    for (int i = 0; i < LEN; i++) {
        c ^= data[i];
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (0xedb88320u & -(c & 1));
    }
    tell("crc", ~c);
}

static void crc_by_table(void)
{
    static uint32_t table[256];
    uint32_t c = ~0u;
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t one = i;
        for (int k = 0; k < 8; k++)
            one = one >> 1 ^ (one & 1 ? 0xedb88320u : 0);
        table[i] = one;
    }
    for (int i = 0; i < LEN; i++)
        c = table[(c ^ data[i]) & 255] ^ c >> 8;
    tell("crc", ~c);
}

static void adler(void)
{
    uint32_t a = 1, b = 0;
    for (int i = 0; i < LEN; i++) {
        a = (a + data[i]) % 65521;
        b = (b + a) % 65521;
    }
    tell("adler", b << 16 | a);
}

static void fnv(void)
{
    uint64_t h = 14695981039346656037ull;
    for (int i = 0; i < LEN; i++)
        h = (h ^ data[i]) * 1099511628211ull;
    tell("fnv", h);
}

static void jenkins(void)
{
    uint32_t h = 0;
    for (int i = 0; i < LEN; i++) {
        h += data[i];
        h += h << 10;
        h ^= h >> 6;
    }
    h += h << 3;
    h ^= h >> 11;
    tell("jenkins", h + (h << 15));
}

static uint32_t turn(uint32_t x, int n)
{
    return x << n | x >> (32 - n);
}

static void murmur(void)
{
    uint32_t h = 7;
    for (int i = 0; i < 8; i++) {
        uint32_t k = word(i) * 0xcc9e2d51u;
        h ^= turn(k, 15) * 0x1b873593u;
        h = turn(h, 13) * 5 + 0xe6546b64u;
    }
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    tell("murmur", h);
}

static void tea(void)
{
    uint32_t a = word(0), b = word(1), at = 0;
    for (int i = 0; i < 32; i++) {
        at += 0x9e3779b9u;
        a += ((b << 4) + word(2)) ^ (b + at) ^ ((b >> 5) + word(3));
        b += ((a << 4) + word(4)) ^ (a + at) ^ ((a >> 5) + word(5));
    }
    tell("a", a);
    tell("b", b);
}

static void chacha(void)
{
    uint32_t x[16];
    for (int i = 0; i < 16; i++)
        x[i] = word(i % 8) + (uint32_t)i;
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < 4; i++) {
            uint32_t *a = x + i, *b = x + 4 + (i + round) % 4, *c = x + 8 + (i + 2 * round) % 4,
                     *d = x + 12 + (i + 3 * round) % 4;
            *a += *b, *d = turn(*d ^ *a, 16), *c += *d, *b = turn(*b ^ *c, 12);
            *a += *b, *d = turn(*d ^ *a, 8), *c += *d, *b = turn(*b ^ *c, 7);
        }
    for (int i = 0; i < 16; i++)
        tell("x", x[i]);
}

static void rc4(void)
{
    byte s[256], j = 0, i = 0;
    for (int k = 0; k < 256; k++)
        s[k] = (byte)k;
    for (int k = 0; k < 256; k++) {
        j = (byte)(j + s[k] + data[k % 4]);
        byte t = s[k];
        s[k] = s[j], s[j] = t;
    }
    for (int k = 0; k < 8; k++) {
        j = (byte)(j + s[++i]);
        byte t = s[i];
        s[i] = s[j], s[j] = t;
        tell("k", s[(byte)(s[i] + s[j])]);
    }
}

static void gcd(void)
{
    uint32_t a = word(0), b = word(1);
    while (b) {
        uint32_t t = a % b;
        a = b;
        b = t;
    }
    tell("gcd", a);
}

static void power(void)
{
    uint64_t base = word(0) % 10007, result = 1;
    for (unsigned e = data[9]; e; e >>= 1) {
        if (e & 1)
            result = result * base % 10007;
        base = base * base % 10007;
    }
    tell("power", result);
}

static void prime(void)
{
    unsigned n = data[3] * 16u + 7, d = 2;
    while (d * d <= n && n % d)
        d++;
    tell("divisor", d * d > n ? n : d);
}

static void root(void)
{
    uint32_t x = word(2), r = 0;
    for (uint32_t bit = 1u << 30; bit; bit >>= 2)
        if (x >= r + bit) {
            x -= r + bit;
            r = (r >> 1) + bit;
        } else {
            r >>= 1;
        }
    tell("root", r);
}

static void bits(void)
{
    for (int i = 0; i < 8; i++) {
        uint32_t x = word(i) | 1;
        tell("count", (uint64_t)__builtin_popcount(x));
        tell("lead", (uint64_t)__builtin_clz(x));
        tell("trail", (uint64_t)__builtin_ctz((x & ~1u) | 1u << 31));
        tell("swap", __builtin_bswap32(x));
        tell("gray", x ^ x >> 1);
    }
}

struct packed {
    unsigned a : 3, b : 7;
    signed c : 5;
    unsigned long long d : 40;
    unsigned e : 9;
};

static void fields(void)
{
    struct packed p[4];
    memset(p, 0, sizeof p);
    for (int i = 0; i < LEN; i++) {
        struct packed *one = p + i % 4;
        one->a += data[i];
        one->b ^= data[i];
        one->c -= data[i];
        one->d = one->d * 31 + data[i];
        one->e |= data[i] * 2u;
    }
    for (int i = 0; i < 4; i++)
        tell("a", p[i].a), tell("b", p[i].b), tell("c", (uint64_t)p[i].c), tell("d", p[i].d),
            tell("e", p[i].e);
}

static void overlays(void)
{
    union {
        byte bytes[8];
        uint16_t halves[4];
        uint64_t whole;
        float parts[2];
    } u;
    for (int i = 0; i < 25; i += 5) {
        memcpy(&u, data + i, 8);
        u.halves[1] ^= u.halves[3];
        u.bytes[5] += u.bytes[2];
        tell("whole", u.whole);
        tell("high", u.whole >> 37 & 0xfff);
    }
}

static void wide(void)
{
    unsigned __int128 x = 1;
    for (int i = 0; i < 8; i++)
        x = x * 1000003 + word(i);
    tell("high", (uint64_t)(x >> 64));
    tell("low", (uint64_t)x);
}

static void floating(void)
{
    double mean = 0, square = 0;
    for (int i = 0; i < LEN; i++)
        mean += data[i] / 32.0, square += data[i] * (double)data[i] / 32;
    tell("mean", (uint64_t)(mean * 1000));
    tell("variance", (uint64_t)(square - mean * mean));
}

typedef unsigned quad __attribute__((vector_size(16)));

static void vectors(void)
{
    quad a = {data[0], data[1], data[2], data[3]}, b = {data[4], data[5], data[6], data[7]};
    for (int i = 0; i < 5; i++) {
        a = a * b + (quad){1, 2, 3, 4};
        quad less = (quad)(a < b);
        b = (less & b) | (~less & (a ^ b));
    }
    for (int i = 0; i < 4; i++)
        tell("lane", a[i]);
}

static void magic(void)
{
    int board[9], best = INT_MIN;
    for (int i = 0; i < 9; i++)
        board[i] = data[i] % 9 + 1;
    for (int i = 0; i < 3; i++) {
        int row = board[3 * i] + board[3 * i + 1] + board[3 * i + 2];
        int column = board[i] + board[3 + i] + board[6 + i];
        if (row - column > best)
            best = row - column;
    }
    tell("best", (uint64_t)best);
}

int main(int argc, char **argv)
{
    static const struct program all[] = {
        {"crc", crc},       {"crc_by_table", crc_by_table},
        {"adler", adler},   {"fnv", fnv},
        {"jenkins", jenkins}, {"murmur", murmur},
        {"tea", tea},       {"chacha", chacha},
        {"rc4", rc4},       {"gcd", gcd},
        {"power", power},   {"prime", prime},
        {"root", root},     {"bits", bits},
        {"fields", fields}, {"overlays", overlays},
        {"wide", wide},     {"floating", floating},
        {"vectors", vectors}, {"magic", magic},
    };
    return run_one(argc, argv, all, sizeof all / sizeof *all);
}
