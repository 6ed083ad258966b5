/* Inputs that are no integers of up to 64 bits. The exit status says which they are. */
#include <stddef.h>
#include <stdint.h>

float __VERIFIER_nondet_float(void);
double __VERIFIER_nondet_double(void);
int __VERIFIER_nondet_int(void);
void *__VERIFIER_nondet_pointer(void);
__int128 __VERIFIER_nondet_int128(void);
unsigned __int128 __VERIFIER_nondet_uint128(void);
void klee_make_symbolic(void *at, size_t len, const char *name);

int main(void)
{
#if SCENARIO == 0
    double d = __VERIFIER_nondet_double();
    return d != d ? 1 : d > 1e300 ? 2 : d == 0.5 ? 3 : 0;
#elif SCENARIO == 1
    float f = __VERIFIER_nondet_float();
    return f + f == 2 ? 1 : f < -1e38f ? 2 : 0;
#elif SCENARIO == 2
    double d;
    klee_make_symbolic(&d, sizeof d, "d");
    return (int)(4 * d) == 2;
#elif SCENARIO == 3
    void *p = __VERIFIER_nondet_pointer();
    return p == NULL ? 0 : (uintptr_t)p == 0x123456789a ? 1 : 2;
#elif SCENARIO == 4
    __int128 n = __VERIFIER_nondet_int128();
    unsigned __int128 m = __VERIFIER_nondet_uint128();
    return (n == (__int128)-5 << 70) + 2 * (m > (unsigned __int128)1 << 100);
#elif SCENARIO == 5
    int n = __VERIFIER_nondet_int();
    double d = n;
    float f = (float)d;
    return d == 16777217 ? 1 : f == 33554432 && n != 33554432 ? 2 : -d > 2147483647 ? 3 : 0;
#endif
}
