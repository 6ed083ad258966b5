/* Names of SV-COMP and KLEE: each scenario fails, and under FIXED it cannot. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
extern void __VERIFIER_assume(int);
extern void __VERIFIER_assert(int);
extern void __VERIFIER_error(void);
extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_nondet_memory(void *, size_t);
extern uintptr_t klee_choose(uintptr_t);
extern void klee_make_symbolic(void *, size_t, const char *);
extern unsigned klee_is_symbolic(uintptr_t);
extern void klee_assert_fail(const char *, const char *, unsigned, const char *);
extern void klee_prefer_cex(void *, uintptr_t);
extern void klee_print_expr(const char *, ...);
extern void klee_report_error(const char *, int, const char *, const char *);
extern void klee_silent_exit(int);

static int x, y, z;

static void in_parallel(void *(*other)(void *), void *(*own)(void *)) {
	pthread_t thread;
	pthread_create(&thread, NULL, other, NULL);
	own(NULL);
	pthread_join(thread, NULL);
}

#if SCENARIO == 0
/* What a section writes on the way is seen by nobody, in or out of sections. */
static void *set(void *unused) {
#ifdef FIXED
	__VERIFIER_atomic_begin();
#endif
	x = 1;
	x = 2;
#ifdef FIXED
	__VERIFIER_atomic_end();
#endif
	return unused;
}

static void *look(void *unused) {
	if (x == 1)
		z = 1;
	return unused;
}

int main(void) {
	in_parallel(set, look);
	assert(!z);
	return 0;
}

#elif SCENARIO == 1
/* What a section reads is of one moment; what others do to other memory does not matter. */
static void *count(void *unused) {
	x++;
	z++;
	y++;
	return unused;
}

static void *look(void *unused) {
#ifdef FIXED
	__VERIFIER_atomic_begin();
#endif
	int later = y;
	int sooner = x;
#ifdef FIXED
	__VERIFIER_atomic_end();
#endif
	assert(sooner - later <= 1);
	return unused;
}

static void *count_twice(void *unused) {
	return count(count(unused));
}

int main(void) {
	in_parallel(count_twice, look);
	return 0;
}

#elif SCENARIO == 2
/* A function is atomic by its name, however it returns. */
#ifdef FIXED
#define add __VERIFIER_atomic_add
#endif
int add(int n) {
	if (n == 0)
		return x;
	x += n;
	return x;
}

static void *once(void *unused) {
	add(1);
	return unused;
}

int main(void) {
	in_parallel(once, once);
	assert(add(0) == 2);
	return 0;
}

#elif SCENARIO == 3
/* An assumption in an atomic function makes a lock of it. */
#ifdef FIXED
#define acquire __VERIFIER_atomic_acquire
#endif
void acquire(void) {
	__VERIFIER_assume(y == 0);
	y = 1;
}

static void *count(void *unused) {
	acquire();
	x++;
	y = 0;
	return unused;
}

int main(void) {
	in_parallel(count, count);
	assert(x == 2);
	return 0;
}

#elif SCENARIO == 4
/* This function of the program gives an execution up. */
void assume_abort_if_not(int condition) {
	if (!condition)
		abort();
}

int main(void) {
	int n = __VERIFIER_nondet_int();
#ifdef FIXED
	assume_abort_if_not(0 < n && n < 10);
#else
	assume_abort_if_not(0 < n && n < 100000);
#endif
	__VERIFIER_assert(n * n < 1000);
	return 0;
}

#elif SCENARIO == 5
int main(void) {
	struct {
		short a;
		int b;
	} both;
	__VERIFIER_nondet_memory(&both, sizeof both);
#ifdef FIXED
	__VERIFIER_assume(both.a > 5);
#endif
	if (both.a == 3 && both.b == 70000)
		__VERIFIER_error();
	return 0;
}

#elif SCENARIO == 6
/* Hints for KLEE make no paths and no difference. */
int main(void) {
	int n = 0;
	klee_make_symbolic(&n, sizeof n, "n");
	klee_prefer_cex(&n, n > 20);
	assert(klee_is_symbolic((uintptr_t)n) && !klee_is_symbolic(7));
	uintptr_t part = klee_choose(4);
	assert(part < 4);
#ifdef FIXED
	if (n == 1000)
		klee_silent_exit(1);
#endif
	if (n == 1000 && part == 2)
		klee_report_error(__FILE__, __LINE__, "the second part", "err");
	return 0;
}

#elif SCENARIO == 7
/* A loop without a step, which asks for ever. */
int main(void) {
	int n;
	do
		n = __VERIFIER_nondet_int();
#ifdef FIXED
	while (0);
	__VERIFIER_assume(n != 0);
#else
	while (n == 0);
#endif
	return n == 0;
}

#elif SCENARIO == 8
/* What is shown of a value makes no paths. */
int main(void) {
	int v;
	klee_make_symbolic(&v, sizeof v, "v");
	klee_print_expr("the value", v);
#ifdef FIXED
	__VERIFIER_assume(v < 1234567);
#endif
	if (v == 1234567)
		klee_assert_fail("v != 1234567", __FILE__, __LINE__, __func__);
	return 0;
}
#endif
