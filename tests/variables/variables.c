// Variables of the C library, and what system calls write that are made by their numbers: one thread accesses what
// a call of another thread reads or writes.
//
// variables list            the rows
// variables ROW N           fails if the outcome is N, 0 or 1; which one it is shows which came first
//
// -DUNKNOWN: only rows of functions of which no row of raddle's says all, which bounds a whole program;
// -DENVP: one row, of a program that gets at the environment in another way than by its variable.
#define _GNU_SOURCE
#include <argp.h>
#include <asm/prctl.h>
#include <assert.h>
#include <err.h>
#include <error.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <langinfo.h>
#include <linux/capability.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wordexp.h>

static int R = -1;
static FILE *a, *b;
static char *args[] = {"x", "-a", "-b", "c", 0}, *mixed[] = {"x", "c", "-b", 0}, *wrong[] = {"x", "-q", 0};
static char text[] = "A=1";
static char *first[] = {text, "B=1", 0}, *second[] = {"A=2", "B=1", 0};
static char bytes[1024];
static cpu_set_t cpus;

/* A stream that nobody has used. */
static FILE *holds(const char *what) {
  FILE *file = tmpfile();
  pwrite(fileno(file), what, strlen(what), 0);
  return file;
}

static int said(int at) {
  fflush(b);
  rewind(b);
  for (int i = 0; i < at; i++)
    fgetc(b);
  return fgetc(b);
}

static int print(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = vprintf(format, list);
  va_end(list);
  return result;
}

static int scan(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = vscanf(format, list);
  va_end(list);
  return result;
}

static void write_seven(void) {
  char c = 7;
  struct iovec from = {&c, 1}, to = {bytes, 1};
  syscall(SYS_process_vm_writev, getpid(), &from, 1L, &to, 1L, 0L);
}

static void in_name(void) { R = 1; }

#define TWO a = holds("a"), b = holds("b")
#define NONE a = holds(""), b = holds("")
#define ENV environ = first

// Row, what comes before, what one thread does, what the other one does, what comes behind.
#ifdef ENVP
static char **envp;
#define ROWS(X) X(envp, 0, envp[0] = "A=2", R = getenv("A") != 0, 0)
#elif defined UNKNOWN
#define ROWS(X) \
  X(environ_posix_spawnp, ENV, environ[0] = "PATH=/nowhere", (R = posix_spawnp(&(pid_t){0}, "true", 0, 0, args, first) != 0), 0) \
  X(environ_wordexp, ENV, environ = second, { wordexp_t x; wordexp("$A", &x, 0); R = x.we_wordv[0][0] == '2'; }, 0) \
  X(argp_program_version, (NONE, stdout = b, argp_program_version = "a"), argp_program_version = "b", { struct argp x = {0}; argp_parse(&x, 2, (char *[]){"x", "--version", 0}, ARGP_NO_EXIT, 0, 0); }, R = said(0) == 'b') \
  X(re_syntax_options, re_syntax_options = 1, re_syntax_options = 5, R = re_set_syntax(7) == 5, 0) \
  X(direct_prctl, 0, bytes[0] = 5, syscall(SYS_prctl, PR_GET_NAME, bytes), R = bytes[0] == 5) \
  X(direct_capget, 0, bytes[4] = 5, syscall(SYS_capget, &(struct __user_cap_header_struct){_LINUX_CAPABILITY_VERSION_3, 0}, bytes), R = bytes[4] == 5) \
  X(direct_statfs, 0, bytes[0] = 5, syscall(SYS_statfs, "/", bytes), R = bytes[0] == 5) \
  X(direct_getdents, 0, bytes[0] = 5, syscall(SYS_getdents64, syscall(SYS_open, "/", 0), bytes, 1024), R = bytes[0] == 5) \
  X(direct_adjtimex, memset(bytes, 0, sizeof bytes), bytes[8] = 5, syscall(SYS_adjtimex, bytes), R = bytes[8] == 5) \
  X(direct_sched_getaffinity, 0, *(char *)&cpus = 0, syscall(SYS_sched_getaffinity, 0, sizeof cpus, &cpus), R = *(char *)&cpus == 0) \
  X(direct_arch_prctl, 0, *(long *)bytes = 5, syscall(SYS_arch_prctl, ARCH_GET_FS, bytes), R = *(long *)bytes == 5) \
  X(direct_get_robust_list, 0, *(long *)bytes = 5, syscall(SYS_get_robust_list, 0, bytes, bytes + 8), R = *(long *)bytes == 5) \
  X(direct_sysinfo, 0, *(long *)bytes = 5, syscall(SYS_sysinfo, bytes), R = *(long *)bytes == 5)
#else
#define ROWS(X) \
  X(stdin_getchar, (TWO, stdin = a), stdin = b, R = getchar() == 'b', 0) \
  X(stdin_getchar_unlocked, (TWO, stdin = a), stdin = b, R = getchar_unlocked() == 'b', 0) \
  X(stdin_getwchar, (TWO, stdin = a), stdin = b, R = getwchar() == 'b', 0) \
  X(stdin_scanf, (TWO, stdin = a), stdin = b, { char c; scanf("%c", &c); R = c == 'b'; }, 0) \
  X(stdin_vscanf, (TWO, stdin = a), stdin = b, (scan("%c", bytes), R = bytes[0] == 'b'), 0) \
  X(stdin_by_pointer, (TWO, stdin = a), { FILE **p = &stdin; *p = b; }, R = getchar() == 'b', 0) \
  X(stdout_printf, (NONE, stdout = a), stdout = b, printf("x"), R = said(0) == 'x') \
  X(stdout_vprintf, (NONE, stdout = a), stdout = b, print("x"), R = said(0) == 'x') \
  X(stdout_puts, (NONE, stdout = a), stdout = b, puts("x"), R = said(0) == 'x') \
  X(stdout_putchar, (NONE, stdout = a), stdout = b, putchar('x'), R = said(0) == 'x') \
  X(stdout_wprintf, (NONE, stdout = a), stdout = b, wprintf(L"x"), R = ftell(b) != 0) \
  X(stderr_perror, (NONE, stderr = a), stderr = b, perror("x"), R = said(0) == 'x') \
  X(stderr_psignal, (NONE, stderr = a), stderr = b, psignal(1, "x"), R = said(0) == 'x') \
  X(stderr_warnx, (NONE, stderr = a), stderr = b, warnx("x"), R = said(0) != EOF) \
  X(stderr_warn, (NONE, stderr = a), stderr = b, warn("x"), R = said(0) != EOF) \
  X(stderr_error, (NONE, stderr = a), stderr = b, error(0, 0, "x"), R = said(0) != EOF) \
  X(stderr_error_at_line, (NONE, stderr = a), stderr = b, error_at_line(0, 0, "f", 1, "x"), R = said(0) != EOF) \
  X(stderr_getopt, (NONE, stderr = a), stderr = b, getopt(2, wrong, "a"), R = said(0) != EOF) \
  X(environ_getenv, ENV, environ = second, R = *getenv("A") == '2', 0) \
  X(environ_word, ENV, environ[0] = "A=2", R = *getenv("A") == '2', 0) \
  X(environ_text, ENV, text[2] = '2', R = (setlocale(LC_CTYPE, ""), *getenv("A") == '2'), 0) \
  X(environ_name, ENV, text[0] = 'X', R = getenv("A") != 0, 0) \
  X(environ_secure_getenv, ENV, environ[0] = "A=2", R = *secure_getenv("A") == '2', 0) \
  X(environ_setenv, ENV, environ[0] = "C=2", setenv("A", "3", 0), R = *getenv("A") == '3') \
  X(environ_putenv, ENV, environ = second, putenv("A=3"), R = *getenv("A") == '3') \
  X(environ_unsetenv, ENV, environ = second, unsetenv("A"), R = getenv("A") == 0) \
  X(environ_clearenv, ENV, environ = second, clearenv(), R = environ == 0) \
  X(environ_read, ENV, R = environ == 0, clearenv(), 0) \
  X(environ_setlocale, ENV, environ[0] = "LC_ALL=C.UTF-8", R = strcmp(setlocale(LC_ALL, ""), "C") != 0, 0) \
  X(environ_newlocale, ENV, environ[0] = "LC_ALL=C.UTF-8", R = *nl_langinfo_l(CODESET, newlocale(LC_ALL_MASK, "", 0)) == 'U', 0) \
  X(environ_tzset, (ENV, tzset()), environ[0] = "TZ=XYZ3", tzset(), R = timezone == 3 * 3600) \
  X(environ_localtime, (ENV, tzset()), environ[0] = "TZ=XYZ3", R = localtime(&(time_t){86400})->tm_hour == 21, 0) \
  X(environ_mktime, (ENV, tzset()), environ[0] = "TZ=XYZ3", R = mktime(&(struct tm){.tm_year = 70, .tm_mday = 1}) == 3 * 3600, 0) \
  X(environ_getopt, ENV, environ[0] = "POSIXLY_CORRECT=1", R = getopt(3, mixed, "b") == -1, 0) \
  X(environ_glob, ENV, environ[0] = "HOME=/b", { glob_t x; glob("~", GLOB_TILDE | GLOB_NOCHECK, 0, &x); R = !strcmp(x.gl_pathv[0], "/b"); }, 0) \
  X(environ_tempnam, ENV, environ[0] = "TMPDIR=/", R = !strncmp(tempnam(0, "q"), "//q", 3), 0) \
  X(name_warnx, (NONE, stderr = b, program_invocation_short_name = "a"), program_invocation_short_name = "b", warnx("x"), R = said(0) == 'b') \
  X(name_error, (NONE, stderr = b, program_invocation_name = "a"), program_invocation_name = "b", error(0, 0, "x"), R = said(0) == 'b') \
  X(error_message_count, (NONE, stderr = b), error_message_count = 10, error(0, 0, "x"), R = error_message_count == 11) \
  X(error_print_progname, (NONE, stderr = b, R = 0), error_print_progname = in_name, error(0, 0, "x"), 0) \
  X(error_one_per_line, (NONE, stderr = b), error_one_per_line = 1, (error_at_line(0, 0, "f", 1, "x"), error_at_line(0, 0, "f", 1, "x")), R = error_message_count == 1) \
  X(optind, 0, optind = 2, R = getopt(3, args, "ab") == 'b', 0) \
  X(opterr, (NONE, stderr = b), opterr = 0, getopt(2, wrong, "a"), R = said(0) == EOF) \
  X(optopt, 0, optopt = 5, getopt(3, args, "ab"), R = optopt == 5) \
  X(optarg, 0, optarg = "z", getopt(3, args, "ab"), R = optarg != 0) \
  X(signgam, 0, signgam = 5, lgamma(-0.5), R = signgam == 5) \
  X(timezone, setenv("TZ", "XYZ3", 1), timezone = 5, tzset(), R = timezone == 5) \
  X(daylight, setenv("TZ", "XYZ3ABC", 1), daylight = 5, tzset(), R = daylight == 5) \
  X(tzname, setenv("TZ", "XYZ3", 1), tzname[0] = "Q", tzset(), R = *tzname[0] == 'Q') \
  X(timezone_mktime, setenv("TZ", "XYZ3", 1), R = timezone == 0, mktime(&(struct tm){.tm_year = 70, .tm_mday = 1}), 0) \
  X(direct_getcpu, *(int *)bytes = 9, *(int *)bytes = 5, syscall(SYS_getcpu, bytes, 0, 0), R = *(int *)bytes == 5) \
  X(direct_getresuid, 0, *(int *)bytes = -5, syscall(SYS_getresuid, bytes, bytes + 4, bytes + 8), R = *(int *)bytes == -5) \
  X(direct_process_vm, 0, bytes[0] = 5, write_seven(), R = bytes[0] == 5)
#endif

static const char *row;
#define IS(name) (!strcmp(row, #name))
#define BEFORE(name, before, one, other, behind) if (IS(name)) { before; }
#define ONE(name, before, one, other, behind) if (IS(name)) { one; }
#define OTHER(name, before, one, other, behind) if (IS(name)) { other; }
#define BEHIND(name, before, one, other, behind) if (IS(name)) { behind; }
#define NAME(name, ...) #name "\n"

static void *one(void *unused) {
  ROWS(ONE)
  return unused;
}

static void *other(void *unused) {
  ROWS(OTHER)
  return unused;
}

int main(int argc, char **argv
#ifdef ENVP
         , char **its_environment
#endif
) {
  pthread_t threads[2];
  row = argv[1];
  if (IS(list)) {
    fputs(ROWS(NAME), stdout);
    return 0;
  }
#ifdef ENVP
  envp = its_environment;
#endif
  ROWS(BEFORE)
  pthread_create(&threads[0], 0, one, 0);
  pthread_create(&threads[1], 0, other, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  ROWS(BEHIND)
  if (R == atoi(argv[2]))
    abort();
  return 0;
}
