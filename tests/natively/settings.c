// What each thread has for itself, row by row. The first argument is the name of a row: what it reads at
// each place is printed, and, where further arguments say what it should be, compared.
//
// Main sets a first value and makes T1, which reads it, sets a second one and reads that; then main sets
// a third one and makes T2, which reads it and sets a fourth one. Both read their own again, and main,
// which has waited for them, its own.
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <linux/mempolicy.h>
#include <locale.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xmmintrin.h>

// Sets the setting to its n-th value (0 to 3); what it is now, as a number.
struct row {
  const char *name;
  void (*set)(int n);
  long (*get)(void);
};

static unsigned short control_word(void) {
  unsigned short word;
  __asm__ volatile("fnstcw %0" : "=m"(word));
  return word;
}

static unsigned short status_word(void) {
  unsigned short word;
  __asm__ volatile("fnstsw %0" : "=m"(word));
  return word & 0x3f;
}

static long text(const char *s) {
  long sum = 0;
  while (*s) sum = sum * 31 + *s++;
  return sum;
}

static volatile sig_atomic_t seen;
static void look(int number) {
  (void)number;
  seen = fegetround() * 2 + (_mm_getcsr() & 0xffc0) / 64;
}

static _Thread_local int local_value;
static pthread_key_t key;
static locale_t locales[4];
static char stacks[4][1 << 16];
static int descriptors[4];

static void personality_set(int n) {
  int now = personality(0xffffffff);
  personality(n & 1 ? now | 0x1000000 : now & ~0x1000000);
}
static int personality_get(void) { return personality(0xffffffff) >> 24 & 1; }

#define ROUNDING ((int[]){FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST}[n])
#define WORD ((int[]){0x27f, 0xf7f, 0x07f, 0xb7f}[n])
#define FLAG ((int[]){FE_INEXACT, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW}[n])
#define NAME ((const char *[]){"first", "second one", "3", "the fourth name"}[n])

#define ROWS(X) \
  X(rounding, fesetround(ROUNDING), fegetround()) \
  X(vector_unit, _mm_setcsr(0x1f80 + 0x2000 * n + 0x40 * (n & 1) + 0x8000 * (n > 1)), _mm_getcsr()) \
  X(x87_control, unsigned short w = WORD; __asm__ volatile("fldcw %0" ::"m"(w)), control_word()) \
  X(exceptions, feclearexcept(FE_ALL_EXCEPT); feraiseexcept(FLAG), fetestexcept(FE_ALL_EXCEPT)) \
  X(x87_exceptions, feclearexcept(FE_ALL_EXCEPT); volatile long double a = n & 1 ? 0 : 3; a = (n + 1) / a, \
    status_word()) \
  X(traps, fedisableexcept(FE_ALL_EXCEPT); feenableexcept(FLAG), fegetexcept()) \
  X(handler_rounding, fesetround(ROUNDING); signal(SIGUSR1, look); raise(SIGUSR1), seen * 100000 + fegetround()) \
  X(prctl_name, prctl(PR_SET_NAME, NAME), char b[16] = ""; prctl(PR_GET_NAME, b); text(b)) \
  X(pthread_name, pthread_setname_np(pthread_self(), NAME), char b[16] = ""; prctl(PR_GET_NAME, b); text(b)) \
  X(name_by_prctl, syscall(SYS_prctl, PR_SET_NAME, NAME), \
    char b[16] = ""; pthread_getname_np(pthread_self(), b, 16); text(b)) \
  X(timer_slack, prctl(PR_SET_TIMERSLACK, 1000 * n + 7), prctl(PR_GET_TIMERSLACK)) \
  X(default_slack, prctl(PR_SET_TIMERSLACK, n & 1 ? 0 : 1000 * n + 7), prctl(PR_GET_TIMERSLACK)) \
  X(keeps_capabilities, prctl(PR_SET_KEEPCAPS, !(n & 1)), prctl(PR_GET_KEEPCAPS)) \
  X(death_signal, prctl(PR_SET_PDEATHSIG, n + 1), int s = 0; prctl(PR_GET_PDEATHSIG, &s); s) \
  X(memory_failures, prctl(PR_MCE_KILL, PR_MCE_KILL_SET, n % 3, 0, 0), prctl(PR_MCE_KILL_GET, 0, 0, 0, 0)) \
  X(new_privileges, if (n == 3) prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0)) \
  X(wrong_options, errno = 0; prctl(n & 1 ? PR_SET_KEEPCAPS : PR_SET_PDEATHSIG, 999), errno) \
  X(signal_mask, sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1 + n); pthread_sigmask(SIG_SETMASK, &s, 0), \
    sigset_t s; pthread_sigmask(0, 0, &s); *(long *)&s) \
  X(signal_stack, sigaltstack(&(stack_t){.ss_sp = stacks[n], .ss_size = sizeof stacks[n]}, 0), \
    stack_t s; sigaltstack(0, &s); s.ss_flags & SS_DISABLE ? 0 : ((char *)s.ss_sp - stacks[0]) / 65536 + 1) \
  X(error_number, errno = n + 1, errno) \
  X(thread_local, local_value = n + 1, local_value) \
  X(specific_data, pthread_setspecific(key, (void *)(long)(n + 1)), (long)pthread_getspecific(key)) \
  X(locale, uselocale(locales[n]), \
    locale_t l = uselocale(0); int i = 0; while (i < 4 && locales[i] != l) i++; i) \
  X(cancelability, pthread_setcancelstate(n & 1, 0); pthread_setcanceltype(n >> 1, 0), \
    int a; int b; pthread_setcancelstate(0, &a); pthread_setcancelstate(a, 0); pthread_setcanceltype(0, &b); \
    pthread_setcanceltype(b, 0); a * 2 + b) \
  X(nice_value, setpriority(PRIO_PROCESS, 0, n + 1), getpriority(PRIO_PROCESS, 0)) \
  X(io_priority, syscall(SYS_ioprio_set, 1, 0, 2 << 13 | (n + 1)), syscall(SYS_ioprio_get, 1, 0)) \
  X(policy, sched_setscheduler(0, n & 1 ? SCHED_BATCH : SCHED_OTHER, &(struct sched_param){0}), \
    sched_getscheduler(0)) \
  X(affinity, cpu_set_t s; CPU_ZERO(&s); CPU_SET(n & 1, &s); sched_setaffinity(0, sizeof s, &s), \
    cpu_set_t s; sched_getaffinity(0, sizeof s, &s); *(long *)&s)

// What is not kept apart, and has to be named.
#define NAMED(X) \
  X(working_directory, unshare(CLONE_FS); chdir(n & 1 ? "/" : "/tmp"), char b[999]; getcwd(b, 999); text(b)) \
  X(umask_apart, unshare(CLONE_FS); umask(n), mode_t m = umask(0); umask(m); m) \
  X(descriptor_table, unshare(CLONE_FILES); close(descriptors[n]), \
    long m = 0; for (int i = 0; i < 4; i++) m = m * 2 + (fcntl(descriptors[i], F_GETFD) < 0); m) \
  X(user, syscall(SYS_setresuid, -1, n & 1 ? 1000 : 0, -1), geteuid()) \
  X(group, syscall(SYS_setresgid, -1, n + 1000, -1), getegid()) \
  X(groups, gid_t g[] = {n + 1}; syscall(SYS_setgroups, 1, g), gid_t g[99]; getgroups(99, g) == 1 ? g[0] : -1) \
  X(file_user, setfsuid(n + 1000), setfsuid(-1)) \
  X(file_group, setfsgid(n + 1000), setfsgid(-1)) \
  X(security_bits, prctl(PR_SET_SECUREBITS, n << 2), prctl(PR_GET_SECUREBITS)) \
  X(persona, personality_set(n), personality_get()) \
  X(memory_policy, unsigned long m = 1; syscall(SYS_set_mempolicy, n & 1 ? MPOL_BIND : MPOL_DEFAULT, n & 1 ? &m : 0, 64), \
    int p = -1; syscall(SYS_get_mempolicy, &p, 0, 0, 0, 0); p) \
  X(gs_base, syscall(SYS_arch_prctl, 0x1001, 0x10000L * (n + 1)), long b = 0; syscall(SYS_arch_prctl, 0x1004, &b); b)

#define FUNCTIONS(name, set, get) \
  static void set_##name(int n) { (void)n; set; } \
  static long get_##name(void) { return ({ get; }); }
ROWS(FUNCTIONS)
NAMED(FUNCTIONS)
#define ENTRY(name, ...) {#name, set_##name, get_##name},
static const struct row kept[] = {ROWS(ENTRY){0}}, named[] = {NAMED(ENTRY){0}};
static const struct row *row;

static long results[9];
static sem_t first_is_ready, second_has_ended;

static void *first(void *argument) {
  (void)argument;
  results[0] = row->get();
  row->set(1);
  results[1] = row->get();
  sem_post(&first_is_ready);
  sem_wait(&second_has_ended);
  results[2] = row->get();
  return 0;
}

static void *second(void *argument) {
  (void)argument;
  results[3] = row->get();
  row->set(3);
  results[4] = row->get();
  sched_yield();
  results[5] = row->get();
  return 0;
}

static const struct row *find(const struct row *rows, const char *name) {
  while (rows->name && strcmp(rows->name, name)) rows++;
  return rows->name ? rows : 0;
}

int main(int count, char **arguments) {
  if (count < 2) {
    for (const struct row *r = kept; r->name; r++) puts(r->name);
    for (const struct row *r = named; r->name; r++) printf("%s named\n", r->name);
    return 0;
  }
  row = find(kept, arguments[1]);
  if (!row) row = find(named, arguments[1]);
  if (!row) return 2;
  pthread_key_create(&key, 0);
  for (int i = 0; i < 4; i++) {
    locales[i] = newlocale(LC_ALL_MASK, i & 1 ? "C.UTF-8" : "C", 0);
    descriptors[i] = dup(0);
  }
  sem_init(&first_is_ready, 0, 0);
  sem_init(&second_has_ended, 0, 0);
  pthread_t a, b;
  row->set(0);
  pthread_create(&a, 0, first, 0);
  sem_wait(&first_is_ready);
  results[6] = row->get();
  row->set(2);
  pthread_create(&b, 0, second, 0);
  pthread_join(b, 0);
  results[7] = row->get();
  sem_post(&second_has_ended);
  pthread_join(a, 0);
  results[8] = row->get();
  fesetenv(FE_DFL_ENV);
  for (int i = 0; i < 9; i++) {
    if (count == 2) printf("%ld\n", results[i]);
    if (count > i + 2) assert(results[i] == strtol(arguments[i + 2], 0, 10));
  }
  return 0;
}
