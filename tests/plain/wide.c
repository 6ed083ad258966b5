/* Integers of 128 bits, vectors, operations on bits. */
#include "plain.h"

typedef unsigned __int128 u128;
typedef __int128 i128;
typedef byte bytes16 __attribute__((vector_size(16)));
typedef uint16_t halves __attribute__((vector_size(16)));
typedef int32_t words __attribute__((vector_size(16)));
typedef uint64_t pair __attribute__((vector_size(16)));

static uint64_t part(int i)
{
    uint64_t value;
    memcpy(&value, data + 8 * i, sizeof value);
    return value;
}

static void tell(const char *what, u128 value)
{
    say("%s %016llx%016llx\n", what, (unsigned long long)(value >> 64), (unsigned long long)value);
    note((uint64_t)value);
    note((uint64_t)(value >> 64));
}

static u128 pack(uint64_t high, uint64_t low)
{
    return (u128)high << 64 | low;
}

static void products(void)
{
    for (int i = 0; i < 4; i++) {
        tell("unsigned", (u128)part(i) * part(3 - i));
        tell("signed", (u128)((i128)(int64_t)part(i) * -(int64_t)part(0)));
    }
}

static void quotients(void)
{
    u128 n = pack(part(0), part(1));
    i128 m = (i128)pack(~part(2), part(3));
    tell("udiv", n / (part(2) | 1));
    tell("urem", n % (part(2) | 1));
    tell("sdiv", (u128)(m / (int32_t)(data[3] + 1)));
    tell("srem", (u128)(m % (i128)(n >> 60 | 1)));
}

static void moved(void)
{
    u128 n = pack(part(0), part(1));
    for (int i = 0; i < 8; i++) {
        int by = (data[i] * 3) & 127;
        tell("left", n << by);
        tell("right", n >> by);
        tell("arithmetic", (u128)((i128)~n >> by));
    }
}

static void order(void)
{
    i128 all[4];
    for (int i = 0; i < 4; i++)
        all[i] = (i128)pack(part(i) - part(0), part(3 - i));
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && all[k] < all[k - 1]; k--) {
            i128 held = all[k];
            all[k] = all[k - 1];
            all[k - 1] = held;
        }
    for (int i = 0; i < 4; i++)
        tell("ordered", (u128)all[i]);
}

/* (a * b) mod m, by which a number is tested for being prime. */
static uint64_t modular(uint64_t a, uint64_t b, uint64_t m)
{
    return (uint64_t)((u128)a * b % m);
}

static void fermat(void)
{
    uint64_t m = part(1) | 1, base = 2, power = 1;
    for (uint64_t n = m - 1; n; n >>= 1) {
        if (n & 1)
            power = modular(power, base, m);
        base = modular(base, base, m);
    }
    tell("power", power);
}

static void generator(void)
{
    u128 state = pack(part(0), part(1) | 1);
    for (int i = 0; i < 6; i++) {
        state *= ((u128)2549297995355413924ull << 64) + 4865540595714422341ull;
        uint64_t mixed = (uint64_t)(state >> 64) ^ (uint64_t)state;
        int by = (int)(state >> 122);
        tell("random", mixed >> by | mixed << (-by & 63));
    }
}

static void difference(void)
{
    bytes16 a, b;
    memcpy(&a, data, 16);
    memcpy(&b, data + 16, 16);
    bytes16 above = (bytes16)(a > b);
    bytes16 distance = (above & (a - b)) | (~above & (b - a));
    unsigned total = 0;
    for (int i = 0; i < 16; i++)
        total += distance[i];
    tell("distance", total);
}

static pair mixed(pair x, words by)
{
    x ^= (pair)(by << 7);
    x[by[0] & 1] += 99;
    return x * 0x9e3779b97f4a7c15u + (x >> 31);
}

static void lanes(void)
{
    pair state = {part(0), part(1)};
    words by = {data[16], data[17], -data[18], data[19] << 20};
    for (int i = 0; i < 4; i++) {
        state = mixed(state, by);
        by = (words)(((halves)by) * 5 + (halves)state) >> 3;
    }
    tell("lanes", pack(state[0], state[1]));
    tell("words", pack((uint32_t)by[1], (uint32_t)by[2]));
}

static void counted(void)
{
    for (int i = 0; i < 4; i++) {
        uint64_t n = part(i), sum;
        int64_t product;
        tell("ones", (u128)__builtin_popcountll(n));
        tell("zeros", (u128)(__builtin_clzll(n | 1) * 64 + __builtin_ctzll(n | 1)));
        tell("bytes", __builtin_bswap64(n));
        tell("carry", (u128)__builtin_add_overflow(n, part(3 - i), &sum) + sum);
        tell("over", (u128)__builtin_mul_overflow((int64_t)n, (int64_t)data[i], &product));
        tell("product", (u128)product);
    }
}

int main(int argc, char **argv)
{
    static const struct program all[] = {
        {"products", products}, {"quotients", quotients}, {"moved", moved},
        {"order", order},       {"fermat", fermat},       {"generator", generator},
        {"difference", difference}, {"lanes", lanes},     {"counted", counted},
    };
    return run_one(argc, argv, all, sizeof all / sizeof *all);
}
