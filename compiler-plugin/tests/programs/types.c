// Types and accesses of every size.
#include <complex.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef float v4 __attribute__((vector_size(16)));
typedef int v2 __attribute__((vector_size(8)));
typedef unsigned char v8 __attribute__((vector_size(8)));
typedef double v32 __attribute__((vector_size(32)));

struct bits { unsigned a : 3, b : 9; int c : 12; unsigned long d : 40; };
struct two { long a, b; };
struct mixed { double d; int i; };
struct packed { char c; int i; long l; } __attribute__((packed));
struct large { int a[30]; };
union either { float f; uint32_t u; };

bool b; signed char c; short s; int i; long l; float f; double d; long double ld; __int128 wide;
_BitInt(24) odd; _BitInt(100) odder; double complex z; float complex zf; void *p; _Float16 half;
v4 vec4; v2 vec2; v8 vec8; v32 vec32;
struct bits bits; struct two two; struct mixed mixed; struct packed packed; struct large large;
union either either; volatile int vi; _Thread_local int tl; static _Thread_local long private_tl;
const int table[4] = {2, 3, 5, 7};
atomic_bool ab; atomic_char ac; atomic_short as; atomic_int ai; atomic_long al; _Atomic float af;
_Atomic double ad; _Atomic(void *) ap; _Atomic struct two a16; _Atomic unsigned char au;

__attribute__((noinline)) struct two swap(struct two t) { return (struct two){t.b, t.a}; }
__attribute__((noinline)) struct mixed mix(struct mixed m) { m.d += m.i; m.i++; return m; }
__attribute__((noinline)) struct large grow(struct large g, struct large *q) { g.a[3]++; q->a[3] = 9; return g; }
__attribute__((noinline)) v4 vadd(v4 x, v4 y) { return x + y; }
__attribute__((noinline)) __int128 mul(__int128 x, __int128 y) { return x * y; }
__attribute__((noinline)) double complex csq(double complex x) { return x * x; }
__attribute__((noinline)) long double ldadd(long double x, float y) { return x + y; }

static void atomics(void) {
  int e = 0;
  ab = true; ac = 5; as = 6; ai = 7; al = 8; af = 1.5f; ad = 2.5; ap = &ai; au = 250;
  atomic_fetch_add(&ai, 3); atomic_fetch_sub(&al, 2); atomic_fetch_or(&as, 8); atomic_fetch_and(&ac, 4);
  atomic_fetch_xor(&ai, 5); au += 10; af += 2; ad *= 2;
  __atomic_fetch_nand(&i, 3, __ATOMIC_RELAXED);
  __atomic_fetch_max(&i, 100, __ATOMIC_ACQ_REL); __atomic_fetch_min(&l, -5, __ATOMIC_ACQUIRE);
  __atomic_fetch_max((unsigned *)&i, 7u, __ATOMIC_RELEASE);
  printf("%d ", atomic_compare_exchange_strong(&ai, &e, 1));
  printf("%d ", atomic_compare_exchange_weak_explicit(&ai, &e, 77, memory_order_acq_rel, memory_order_relaxed));
  void *old = atomic_exchange(&ap, &al);
  printf("%d %d\n", old == &ai, atomic_load_explicit(&ap, memory_order_acquire) == &al);
  struct two t = a16; t.a += 5; a16 = t;
  atomic_thread_fence(memory_order_seq_cst); atomic_signal_fence(memory_order_seq_cst);
  printf("%d %d %d %d %ld %g %g %ld %d\n", ab, ac, as, ai, al, (double)af, ad, ((struct two)a16).a, au);
}

int main(int argc, char **argv) {
  (void)argv;
  b = argc; c = (signed char)(argc + 200); s = (short)(c * 300); i = s * 70000 / 3; l = (long)i << 20;
  f = (float)i; d = f / 3; ld = d; ld = ldadd(ld, f); wide = mul(l, l) + argc; odd = i; odd = odd * 3; odder = wide; odder++;
  z = csq(d + 2 * I); zf = (float complex)z; p = &p; half = (_Float16)0.5 + (_Float16)argc;
  vec4 = vadd((v4){1, 2, 3, f}, vec4); vec4[1] += 5; vec2 = (v2){i, 3} * 2; vec8 += 7; vec32 = vec32 + d;
  bits.a = 9; bits.b += 511; bits.c = -i; bits.d ^= (unsigned long)l;
  two = swap((struct two){l, 4}); mixed = mix((struct mixed){d, i}); packed.i = i; packed.l = l; packed.c++;
  large.a[3] = 41; large = grow(large, &large); either.f = f; vi++; vi += vi; tl = i; private_tl += tl;
  printf("%d %d %d %d %ld %a %a %La %d %d\n", b, c, s, i, l, f, d, ld, (int)(wide >> 70), (int)odd);
  printf("%d %a %a %d %a\n", (int)(odder >> 64), creal(z), cimag(zf), p == &p, (double)half);
  printf("%a %a %d %d %a\n", vec4[1], vec4[3], vec2[0], vec8[3], vec32[2]);
  printf("%u %u %d %lu\n", bits.a, bits.b, bits.c, (unsigned long)bits.d);
  printf("%ld %ld %a %d %d %ld %d\n", two.a, two.b, mixed.d, mixed.i, packed.i, packed.l, packed.c);
  printf("%d %u %d %d %ld %d\n", large.a[3], either.u, vi, tl, private_tl, table[argc & 3]);
  atomics();
  int memory = 5;
  __asm__ volatile("addl $3, %0" : "+m"(memory));
  __asm__ volatile("addl %1, %0" : "+m"(i) : "r"(memory) : "memory");
  __asm__ volatile("mfence" ::: "memory");
  __asm__ volatile("" ::: "memory");
  printf("%d %d\n", memory, i);
  return 0;
}
