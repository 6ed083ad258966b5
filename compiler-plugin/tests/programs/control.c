// Control flow that passes must not break.
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"

int global = 3;
static jmp_buf place;

static void deep(int n) {
  if (n == 0) longjmp(place, global++);
  deep(n - 1);
}

static int jumps(void) {
  volatile int turns = 0;
  int value = setjmp(place);
  turns = turns + 1;
  if (turns < 4) deep(turns * 2);
  return value * 100 + turns;
}

static int machine(const unsigned char *code) {
  static void *labels[] = {&&stop, &&up, &&twice, &&global_up};
  int value = 1;
#define NEXT goto *labels[*code++]
  NEXT;
up:
  value++;
  NEXT;
twice:
  value *= 2;
  NEXT;
global_up:
  global += value;
  NEXT;
stop:
  return value;
}

__attribute__((noinline)) static long sum(int count, ...) {
  va_list list, again;
  va_start(list, count);
  va_copy(again, list);
  long total = 0;
  for (int i = 0; i < count; i++) total += va_arg(list, int);
  double d = 0;
  for (int i = 0; i < count; i++) d += va_arg(again, int);
  total += (long)d;
  va_end(again);
  va_end(list);
  return total;
}

__attribute__((noinline)) static int formatted(char *to, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsprintf(to, format, list);
  va_end(list);
  return n;
}

static int last(long n, int *p);
static int other(long n, int *p) {
  *p += 1;
  if (n == 0) return *p;
  __attribute__((musttail)) return last(n - 1, p);
}
static int last(long n, int *p) {
  global ^= (int)n;
  if (n == 0) return *p + global;
  __attribute__((musttail)) return other(n - 1, p);
}

static int asm_goto(int x) {
  asm goto("testl %0, %0\n\tjz %l1" : : "r"(x) : "cc" : zero);
  global++;
  return 1;
zero:
  return 0;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int variable_length(int n) {
  int array[n], total = 0;
  for (int i = 0; i < n; i++) array[i] = (i * 7) % n;
  qsort(array, (size_t)n, sizeof *array, compare);
  char *more = __builtin_alloca((size_t)n);
  memset(more, 1, (size_t)n);
  for (int i = 0; i < n; i++) total += array[i] * i + more[i];
  return total;
}

static int (*volatile pointer)(long, int *) = other;
static int (*choose(int x))(long, int *) { return x ? last : other; }

static int implementation_a(int x) { return x + global; }
static int (*resolve(void))(int) { return implementation_a; }
int indirect(int x) __attribute__((ifunc("resolve")));
extern int aliased(int x) __attribute__((alias("indirect_target")));
int indirect_target(int x) { return 3 * x + global; }
__attribute__((weak)) int weak_one(int x) { return x - global; }

__attribute__((constructor)) static void before_main(void) { global = 11; }

__attribute__((disable_sanitizer_instrumentation)) static int left_alone(int *p) { return ++*p; }
__attribute__((naked, noinline)) static int bare(int x) { asm("leal 5(%rdi), %eax\n\tret"); }

static unsigned long collatz(unsigned long n) {
  unsigned long steps = 0;
  for (; n != 1; steps++) n = n % 2 ? 3 * n + 1 : n / 2;
  return steps;
}

// A sum that the optimiser turns into a loop.
__attribute__((noinline)) static int depth(unsigned n, unsigned k) {
  if (k >= n) return 0;
  return 1 + depth(n, k + 1);
}

static int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j) {
  switch (a & 7) {
  case 0: return b;
  case 1: case 3: return c + d;
  case 2: global = e;
  case 5: return f + g;
  default: return h * i - j;
  }
}

int main(void) {
  char text[64], *end;
  int cell = 0;
  printf("%d\n", jumps());
  printf("%d %d\n", machine((const unsigned char[]){1, 2, 3, 1, 2, 0}), global);
  printf("%ld\n", sum(5, 1, 2, 3, 4, global));
  printf("%d %s\n", formatted(text, "%d-%s-%.1f", global, "x", 2.5), text);
  printf("%d\n", other(1000, &cell));
  printf("%d %d\n", asm_goto(0), asm_goto(2));
  printf("%d\n", variable_length(17));
  printf("%d %d\n", pointer(3, &cell), choose(1)(4, &cell));
  printf("%d %d %d\n", indirect(4), aliased(5), weak_one(6));
  printf("%d %d\n", left_alone(&cell), bare(6));
  printf("%lu %d\n", collatz(27), depth(global, cell & 1));
  for (int i = 0; i < 8; i++) printf("%d ", many(i, 2, 3, 4, 5, 6, 7, 8, 9, 10));
  printf("%ld %s %zu\n", strtol("123x", &end, 10), end, strlen(text));
  memmove(text + 1, text, 10);
  memcpy(text + 20, text, 10);
  printf("%.12s %d %d\n", text, memcmp(text, text + 20, 10), abs(-global));
  return global & 63;
}
