/* `carriers ROW BAD [locked]`: one thread changes the first letter of a text, from a to x, while another one
 * carries it to a result, in the way that stands in that line of this file; it must not be BAD, one of these
 * letters. `locked`: each in a section of its own. */
#define _GNU_SOURCE
#include <aio.h>
#include <alloca.h>
#include <argz.h>
#include <arpa/inet.h>
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <getopt.h>
#include <glob.h>
#include <iconv.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static char b[16] = "abc";
static struct { char text[12]; int number; } one = {"abc", 1}, two;
static int r = '?', is_locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static thread_local char own[16];

static FILE *file(void) { return tmpfile(); }

/* What was written to it, from the start. */
static int again(FILE *s) {
  rewind(s);
  int c = fgetc(s);
  fclose(s);
  return c;
}

static int over(int fd) {
  char c = 0;
  lseek(fd, 0, SEEK_SET);
  read(fd, &c, 1);
  close(fd);
  return c;
}

static int numbers(const void *one, const void *two) { return *(const char *)one - *(const char *)two; }
static int last(const void *one, const void *two) { return *(const char *)two - *(const char *)one; }
static int numbers_with(const void *one, const void *two, void *unused) { return numbers(one, two); }

static int listed(int how, ...) {
  char to[16] = "";
  va_list list;
  va_start(list, how);
  int value = '?';
  switch (how) {
  case 0: value = *va_arg(list, char *); break;
  case 1: vsnprintf(to, 9, "%s", list); value = *to; break;
  case 2: { FILE *s = file(); vfprintf(s, "%s", list); value = again(s); break; }
  case 3: vsscanf(b, "%1s", list); break;
  case 4: { char *made; vasprintf(&made, "%s", list); value = *made; break; }
  }
  va_end(list);
  return value;
}

struct whole { char text[24]; };
__attribute__((noinline)) static int taken(struct whole whole) { return whole.text[0]; }
__attribute__((noinline)) static struct whole given(void) {
  struct whole whole = {""};
  memcpy(whole.text, b, 9);
  return whole;
}

static void *returns(void *text) { return (void *)(intptr_t)*(char *)text; }
static int met;
static void meets(const void *node, VISIT visit, int depth) { met = **(char **)node; }
static void handles(int signal, siginfo_t *info, void *context) { met = info->si_value.sival_int; }
static void plain(int signal) { met = signal; }
static ssize_t takes(void *cookie, const char *bytes, size_t count) {
  *(char *)cookie = *bytes;
  return count;
}

/* The rows: a way, and what a thread does. */
#define K(name) break; case __LINE__:
static void carry(int row) {
 switch (row) {
 K(memcpy) { char q[16]; memcpy(q, b, 9); r = q[0]; }
 K(memcpy to a block) { char *q = malloc(16); memcpy(q, b, 9); r = q[0]; }
 K(memmove) { char *q = calloc(16, 1); memmove(q, b, 12); r = q[0]; }
 K(mempcpy) { char *q = malloc(16); mempcpy(q, b, 9); r = q[0]; }
 K(memccpy) { char *q = malloc(16); memccpy(q, b, 0, 9); r = q[0]; }
 K(bcopy) { char *q = malloc(16); bcopy(b, q, 9); r = q[0]; }
 K(memcpy twice) { char *q = malloc(16), *p = malloc(16); memcpy(q, b, 9); memcpy(p, q, 9); r = p[0]; }
 K(memcpy of a store) { char *q = malloc(16); memset(q, 'a', 9); *(volatile char *)q = b[0]; memcpy(two.text, q, 9); r = two.text[0]; }
 K(store over memcpy) { char *q = malloc(16); memcpy(q, b, 9); *(volatile char *)q = b[0]; char p[9]; memcpy(p, q, 9); r = p[0]; }
 K(memset) { char *q = malloc(16); memset(q, b[0], 9); r = q[3]; }
 K(structure) { memcpy(one.text, b, 4); two = one; r = two.text[0]; }
 K(structure as an argument) { struct whole w = {""}; memcpy(w.text, b, 9); r = taken(w); }
 K(structure as a result) { r = given().text[0]; }
 K(variable of the thread) { memcpy(own, b, 9); r = own[0]; }
 K(alloca) { char *q = alloca(b[0] == 'a' ? 16 : 32); memcpy(q, b, 9); r = q[0]; }
 K(arguments) { r = listed(0, strdup(b)); }
 K(realloc) { char *q = malloc(16); memcpy(q, b, 3); q = realloc(q, 5000); r = q[0]; }
 K(realloc of a store) { char *q = malloc(16); q[0] = b[0]; q = realloc(q, 5000); r = q[0]; }

 K(reallocarray) { char *q = malloc(16); memcpy(q, b, 3); q = reallocarray(q, 500, 10); r = q[0]; }
 K(realloc smaller) { char *q = malloc(5000); memcpy(q, b, 3); q = realloc(q, 8); r = q[0]; }
 K(strdup) { r = strdup(b)[0]; }
 K(strndup) { r = strndup(b, 2)[0]; }
 K(strdupa) { r = strdupa(b)[0]; }
 K(wcsdup) { wchar_t w[4] = L"abc"; w[0] = b[0]; r = wcsdup(w)[0]; }
 K(strcpy) { char *q = malloc(16); strcpy(q, b); r = q[0]; }
 K(stpcpy) { char *q = malloc(16); stpcpy(q, b); r = q[0]; }
 K(strncpy) { char *q = malloc(16); strncpy(q, b, 9); r = q[0]; }
 K(strcat) { char *q = calloc(16, 1); strcat(q, b); r = q[0]; }
 K(strncat) { char *q = calloc(16, 1); strncat(q, b, 2); r = q[0]; }
 K(strchr) { char *q = strchr(b, 'x'); r = q ? 'x' : 'a'; }
 K(strlen) { r = strlen(b + (b[0] == 'x')) == 3 ? 'a' : 'x'; }
 K(strtok_r) { char q[16], *p; strcpy(q, b); r = *strtok_r(q, "b", &p); }
 K(strsep) { char q[16], *p = q; strcpy(q, b); r = *strsep(&p, "b"); }
 K(strxfrm) { char q[16]; strxfrm(q, b, 16); r = q[0]; }
 K(strcoll) { r = strcoll(b, "b") < 0 ? 'a' : 'x'; }
 K(swab) { char q[16]; swab(b, q, 4); r = q[1]; }
 K(strtol) { char q[16]; strcpy(q, b); r = strtol(q, NULL, 11) == 10 ? 'a' : 'x'; }
 K(strtod) { char q[16] = "1"; q[1] = b[0] == 'a' ? '1' : '2'; r = strtod(q, NULL) == 11 ? 'a' : 'x'; }
 K(sscanf) { char q[16]; sscanf(b, "%15s", q); r = q[0]; }
 K(sscanf of a letter) { char q; sscanf(b, "%c", &q); r = q; }
 K(vsscanf) { char q[16]; listed(3, q); r = q[0]; }
 K(sprintf) { char q[16]; sprintf(q, "%s", b); r = q[0]; }
 K(snprintf) { char *q = malloc(16); snprintf(q, 9, "%s", b); r = q[0]; }
 K(snprintf of a letter) { char *q = malloc(16); snprintf(q, 9, "%c", b[0]); r = q[0]; }
 K(vsnprintf) { r = listed(1, b); }
 K(asprintf) { char *q; asprintf(&q, "%s", b); r = q[0]; }
 K(vasprintf) { r = listed(4, b); }
 K(swprintf) { wchar_t q[9]; swprintf(q, 9, L"%s", b); r = q[0]; }
 K(length printed) { char q[16]; r = snprintf(q, 16, "%.*s", b[0] == 'a' ? 1 : 2, "zz") == 1 ? 'a' : 'x'; }
 K(mbstowcs) { wchar_t q[9]; mbstowcs(q, b, 9); r = q[0]; }
 K(wcstombs) { wchar_t w[4] = L"abc"; char q[9]; w[0] = b[0]; wcstombs(q, w, 9); r = q[0]; }
 K(mbrtowc) { wchar_t q; mbstate_t s = {0}; mbrtowc(&q, b, 3, &s); r = q; }
 K(wctomb) { char q[9]; wctomb(q, b[0]); r = q[0]; }
 K(btowc) { r = btowc(b[0]); }
 K(toupper) { r = toupper(b[0]) - 'A' + 'a'; }
 K(isalpha) { r = isxdigit(b[0]) ? 'a' : 'x'; }
 K(iconv) { char q[9], *from = b, *to = q; size_t n = 3, m = 9; iconv_t i = iconv_open("UTF-8", "LATIN1"); iconv(i, &from, &n, &to, &m); r = q[0]; }
 K(l64a) { r = l64a(b[0] == 'a' ? 38 : 61)[0] == 'a' ? 'a' : 'x'; }
 K(ecvt) { int p, s; r = ecvt(b[0], 2, &p, &s)[0] == '9' ? 'a' : 'x'; }
 K(inet_ntoa) { struct in_addr i; memcpy(&i, b, 4); r = inet_ntoa(i)[0] == '9' ? 'a' : 'x'; }
 K(inet_ntop) { char q[32]; inet_ntop(AF_INET, b, q, 32); r = q[0] == '9' ? 'a' : 'x'; }
 K(inet_pton) { char q[9] = "9.0.0.0"; int i; q[0] = b[0] == 'a' ? '1' : '2'; inet_pton(AF_INET, q, &i); r = i == 1 ? 'a' : 'x'; }
 K(basename) { char q[16]; strcpy(q, b); r = basename(q)[0]; }
 K(dirname) { char q[16] = "z/z"; q[0] = b[0]; r = dirname(q)[0]; }
 K(argz) { char *q; size_t n; argz_create_sep(b, 'b', &q, &n); r = q[0]; }
 K(fnmatch) { r = fnmatch("a*", b, 0) == 0 ? 'a' : 'x'; }
 K(pattern of fnmatch) { r = fnmatch(b, "abc", 0) == 0 ? 'a' : 'x'; }
 K(regexec) { regex_t q; regcomp(&q, "^a", 0); r = regexec(&q, b, 0, NULL, 0) == 0 ? 'a' : 'x'; }
 K(regcomp) { regex_t q; regcomp(&q, b, 0); r = regexec(&q, "abc", 0, NULL, 0) == 0 ? 'a' : 'x'; }
 K(getopt) { char q[9] = "-"; q[1] = b[0]; char *v[] = {"p", q, NULL}; optind = 1; opterr = 0; r = getopt(2, v, "ax"); }
 K(text of getopt) { char q[9] = "-z"; q[1] = b[0]; char *v[] = {"p", q, NULL}; optind = 1; opterr = 0; r = getopt(2, v, "a") == 'a' ? 'a' : 'x'; }
 K(letters of getopt) { char *v[] = {"p", "-a", NULL}; optind = 1; opterr = 0; r = getopt(2, v, b) == 'a' ? 'a' : 'x'; }
 K(value of getopt) { char *v[] = {"p", "-z", b, NULL}; optind = 1; getopt(3, v, "z:"); r = optarg[0]; }
 K(getopt_long) { struct option o[] = {{"aa", 0, NULL, b[0]}, {0}}; char *v[] = {"p", "--aa", NULL}; optind = 1; r = getopt_long(2, v, "z", o, NULL); }
 K(flag of getopt_long) { int q = 0; struct option o[] = {{"aa", 0, &q, b[0]}, {0}}; char *v[] = {"p", "--aa", NULL}; optind = 1; getopt_long(2, v, "z", o, NULL); r = q; }
 K(name of getopt_long) { struct option o[] = {{b, 0, NULL, 'a'}, {0}}; char *v[] = {"p", "--abc", NULL}; optind = 1; opterr = 0; r = getopt_long(2, v, "z", o, NULL) == 'a' ? 'a' : 'x'; }
 K(getsubopt) { char *t[] = {b, NULL}, q[9] = "abc", *p = q, *v; r = getsubopt(&p, t, &v) == 0 ? 'a' : 'x'; }
 K(text of getsubopt) { char *t[] = {"abc", NULL}, q[9], *p = q, *v; memcpy(q, b, 4); r = getsubopt(&p, t, &v) == 0 ? 'a' : 'x'; }
 K(qsort) { char q[3] = {b[0], 'm', 'm'}; qsort(q, 3, 1, numbers); r = q[0] == 'a' ? 'a' : 'x'; }
 K(qsort_r) { char q[3] = {b[0], 'm', 'm'}; qsort_r(q, 3, 1, numbers_with, NULL); r = q[0] == 'a' ? 'a' : 'x'; }
 K(order of qsort) { char q[3] = {'a', 'm', 'x'}; qsort(q, 3, 1, b[0] == 'a' ? numbers : last); r = q[0]; }
 K(bsearch) { char q[3] = "amx"; r = *(char *)bsearch(b, q, 3, 1, numbers); }
 K(lfind) { char q[3] = "amx"; size_t n = 3; r = *(char *)lfind(b, q, &n, 1, numbers); }
 K(lsearch) { char q[9] = "m"; size_t n = 1; r = *(char *)lsearch(b, q, &n, 1, numbers); }
 K(tsearch) { void *root = NULL; char *q = strdup(b); tsearch(q, &root, numbers); r = **(char **)tfind(q, &root, numbers); }
 K(twalk) { void *root = NULL; tsearch(strdup(b), &root, numbers); twalk(root, meets); r = met; }
 K(hsearch) { ENTRY e = {strdup(b), NULL}, *f; struct hsearch_data h = {0}; hcreate_r(4, &h); hsearch_r(e, ENTER, &f, &h); r = f->key[0]; }
 K(insque) { struct { void *n, *p; char c; } q = {NULL, NULL, b[0]}, p = {NULL, NULL, 0}; insque(&q, NULL); insque(&p, &q); r = *((char *)p.p + 16); }
 K(specific value) { pthread_setspecific(key, (void *)(intptr_t)b[0]); r = (intptr_t)pthread_getspecific(key); }
 K(result of a thread) { pthread_t t; void *q; pthread_create(&t, NULL, returns, b); pthread_join(t, &q); r = (intptr_t)q; }
 K(argument of a thread) { pthread_t t; void *q; char *p = strdup(b); pthread_create(&t, NULL, returns, p); pthread_join(t, &q); r = (intptr_t)q; }
 K(name of a thread) { char q[16]; pthread_setname_np(pthread_self(), b); pthread_getname_np(pthread_self(), q, 16); r = q[0]; }
 K(name by prctl) { char q[16]; prctl(PR_SET_NAME, b); prctl(PR_GET_NAME, q); r = q[0]; }
 K(longjmp) { jmp_buf j; int q = setjmp(j); if (q == 0) longjmp(j, b[0]); r = q; }
 K(signal) { struct sigaction a = {.sa_sigaction = handles, .sa_flags = SA_SIGINFO}; sigaction(SIGRTMIN, &a, NULL); union sigval v = {b[0]}; pthread_sigqueue(pthread_self(), SIGRTMIN, v); r = met; }
 K(number of a signal) { int n = b[0] == 'a' ? SIGUSR1 : SIGUSR2; signal(n, plain); raise(n); r = met == SIGUSR1 ? 'a' : 'x'; }
 K(errno) { errno = b[0]; r = errno; }
 K(semaphore) { sem_t s; int q; sem_init(&s, 0, b[0]); sem_getvalue(&s, &q); r = q; }
 K(setenv) { setenv("CARRIED", b, 1); r = getenv("CARRIED")[0]; }
 K(putenv) { static char q[32] = "CARRIED="; strcpy(q + 8, b); putenv(q); r = getenv("CARRIED")[0]; }
 K(srand) { srand(b[0]); int q = rand(); srand('a'); r = q == rand() ? 'a' : 'x'; }
 K(rand_r) { unsigned s = b[0], t = 'a'; r = rand_r(&s) == rand_r(&t) ? 'a' : 'x'; }
 K(umask) { umask(b[0] == 'a' ? 1 : 2); r = umask(0) == 1 ? 'a' : 'x'; }
 K(mktime) { struct tm q = {.tm_year = b[0], .tm_mday = 1}; time_t n = mktime(&q); r = n < 900000000 ? 'a' : 'x'; }
 K(gmtime_r) { time_t n = b[0]; struct tm q; gmtime_r(&n, &q); r = q.tm_sec == 37 ? 'a' : 'x'; }
 K(strftime) { char q[16]; struct tm d = {.tm_mday = b[0] == 'a' ? 1 : 2}; strftime(q, 16, "%e", &d); r = q[1] == '1' ? 'a' : 'x'; }
 K(format of strftime) { char q[16]; struct tm d = {.tm_mday = 1}; strftime(q, 16, b, &d); r = q[0]; }
 K(zone of strftime) { char q[16]; struct tm d = {.tm_mday = 1, .tm_zone = b}; strftime(q, 16, "%Z", &d); r = q[0]; }
 K(frexp) { int q; frexp(b[0] == 'a' ? 1 : 4, &q); r = q == 1 ? 'a' : 'x'; }
 K(modf) { double q; modf(b[0] + .5, &q); r = q; }
 K(fputs) { FILE *s = file(); fputs(b, s); r = again(s); }
 K(fputc) { FILE *s = file(); fputc(b[0], s); r = again(s); }
 K(putc) { FILE *s = file(); putc_unlocked(b[0], s); r = again(s); }
 K(putw) { FILE *s = file(); putw(b[0], s); r = again(s); }
 K(fputwc) { FILE *s = file(); fputwc(b[0], s); rewind(s); r = fgetwc(s); }
 K(fputws) { FILE *s = file(); wchar_t w[4] = L"abc"; w[0] = b[0]; fputws(w, s); rewind(s); r = fgetwc(s); }
 K(fprintf) { FILE *s = file(); fprintf(s, "%s", b); r = again(s); }
 K(fprintf of a letter) { FILE *s = file(); fprintf(s, "%c", b[0]); r = again(s); }
 K(format of fprintf) { FILE *s = file(); fprintf(s, b); r = again(s); }
 K(vfprintf) { r = listed(2, b); }
 K(fwprintf) { FILE *s = file(); fwprintf(s, L"%s", b); rewind(s); r = fgetwc(s); }
 K(fwrite) { FILE *s = file(); fwrite(b, 1, 3, s); r = again(s); }
 K(fwrite of a block) { FILE *s = file(); char *q = malloc(16); memcpy(q, b, 9); fwrite(q, 1, 3, s); r = again(s); }
 K(fwrite and fread) { FILE *s = file(); char q[9]; fwrite(b, 1, 3, s); rewind(s); fread(q, 1, 3, s); r = q[0]; }
 K(fputs and fgets) { FILE *s = file(); char q[9]; fputs(b, s); rewind(s); fgets(q, 9, s); r = q[0]; }
 K(fputs and getline) { FILE *s = file(); char *q = NULL; size_t n = 0; fputs(b, s); rewind(s); getline(&q, &n, s); r = q[0]; }
 K(fprintf and fscanf) { FILE *s = file(); char q; fprintf(s, "%s", b); rewind(s); fscanf(s, "%c", &q); r = q; }
 K(unbuffered) { FILE *s = file(); setbuf(s, NULL); fputs(b, s); r = again(s); }
 K(own buffer) { FILE *s = file(); static char q[64]; setvbuf(s, q, _IOFBF, 64); fputs(b, s); r = q[0]; }
 K(fflush and pread) { FILE *s = file(); char q; fputs(b, s); fflush(s); pread(fileno(s), &q, 1, 0); r = q; }
 K(position) { FILE *s = file(); fputs(b[0] == 'a' ? "1" : "22", s); r = ftell(s) == 1 ? 'a' : 'x'; }
 K(position by a text) { FILE *s = file(); fputs(b + (b[0] == 'x'), s); r = ftell(s) == 3 ? 'a' : 'x'; }
 K(ungetc) { FILE *s = file(); ungetc(b[0], s); r = fgetc(s); }
 K(ungetwc) { FILE *s = file(); ungetwc(b[0], s); r = fgetwc(s); }
 K(fdopen) { FILE *s = fdopen(memfd_create("m", 0), "w+"); fputs(b, s); r = again(s); }
 K(fmemopen) { char *q = malloc(16); FILE *s = fmemopen(q, 16, "w"); fputs(b, s); fclose(s); r = q[0]; }
 K(fmemopen to read) { FILE *s = fmemopen(b, 4, "r"); r = fgetc(s); }
 K(open_memstream) { char *q; size_t n; FILE *s = open_memstream(&q, &n); fputs(b, s); fclose(s); r = q[0]; }
 K(fopencookie) { char q = 0; cookie_io_functions_t c = {.write = takes}; FILE *s = fopencookie(&q, "w", c); fputs(b, s); fclose(s); r = q; }
 K(stdout that leads elsewhere) { FILE *s = file(), *old = stdout; stdout = s; puts(b); stdout = old; r = again(s); }
 K(printf that leads elsewhere) { FILE *s = file(), *old = stdout; stdout = s; printf("%s", b); stdout = old; r = again(s); }
 K(output by its descriptor) { int fd = memfd_create("m", 0), old = dup(1); dup2(fd, 1); puts(b); fflush(stdout); dup2(old, 1); r = over(fd); }
 K(write) { int fd = memfd_create("m", 0); write(fd, b, 3); r = over(fd); }
 K(pwrite) { int fd = memfd_create("m", 0); pwrite(fd, b, 3, 0); r = over(fd); }
 K(writev) { int fd = memfd_create("m", 0); struct iovec v = {b, 3}; writev(fd, &v, 1); r = over(fd); }
 K(dprintf) { int fd = memfd_create("m", 0); dprintf(fd, "%s", b); r = over(fd); }
 K(write by its number) { int fd = memfd_create("m", 0); syscall(SYS_write, fd, b, 3); r = over(fd); }
 K(aio_write) { int fd = memfd_create("m", 0); struct aiocb a = {.aio_fildes = fd, .aio_buf = b, .aio_nbytes = 3}; aio_write(&a); const struct aiocb *l[] = {&a}; aio_suspend(l, 1, NULL); aio_return(&a); r = over(fd); }
 K(ftruncate) { int fd = memfd_create("m", 0); ftruncate(fd, b[0]); struct stat s; fstat(fd, &s); r = s.st_size; }
 K(mapping of a file) { int fd = memfd_create("m", 0); ftruncate(fd, 4096); char *q = mmap(NULL, 4096, 3, MAP_SHARED, fd, 0); memcpy(q, b, 9); r = over(fd); }
 K(file behind a mapping) { int fd = memfd_create("m", 0); ftruncate(fd, 4096); char *q = mmap(NULL, 4096, 3, MAP_SHARED, fd, 0); write(fd, b, 3); r = q[0]; }
 K(two mappings) { int fd = memfd_create("m", 0); ftruncate(fd, 4096); char *q = mmap(NULL, 4096, 3, MAP_SHARED, fd, 0), *p = mmap(NULL, 4096, 3, MAP_SHARED, fd, 0); memcpy(q, b, 9); r = p[0]; }
 K(mremap) { char *q = mmap(NULL, 8192, 3, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *p = q; memcpy(q, b, 9); q = mremap(q, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, q + 4096); r = q[0]; }
 K(shmat) { int id = shmget(IPC_PRIVATE, 4096, 0600); char *q = shmat(id, NULL, 0), *p = shmat(id, NULL, 0); shmctl(id, IPC_RMID, NULL); memcpy(q, b, 9); r = p[0]; }
 K(pipe) { int p[2]; char q = 0; pipe(p); write(p[1], b, 3); read(p[0], &q, 1); r = q; }
 K(socketpair) { int p[2]; char q = 0; socketpair(AF_UNIX, SOCK_STREAM, 0, p); send(p[1], b, 3, 0); recv(p[0], &q, 1, 0); r = q; }
 K(sendfile) { int fd = memfd_create("m", 0), to = memfd_create("n", 0); write(fd, b, 3); off_t o = 0; sendfile(to, fd, &o, 3); r = over(to); }
 K(copy_file_range) { int fd = memfd_create("m", 0), to = memfd_create("n", 0); write(fd, b, 3); loff_t o = 0; copy_file_range(fd, &o, to, NULL, 3, 0); r = over(to); }
 K(eventfd) { uint64_t q = b[0]; int fd = syscall(SYS_eventfd2, 0, 0); write(fd, &q, 8); read(fd, &q, 8); r = q; }
 K(message queue of System V) { struct { long t; char c[8]; } m = {1, ""}, n; memcpy(m.c, b, 3); int id = msgget(IPC_PRIVATE, 0600); msgsnd(id, &m, 8, 0); msgrcv(id, &n, 8, 0, 0); msgctl(id, IPC_RMID, NULL); r = n.c[0]; }
 K(process_vm_writev) { char q[9] = ""; struct iovec v = {b, 3}, w = {q, 3}; process_vm_writev(getpid(), &v, 1, &w, 1, 0); r = q[0]; }
 K(process_vm_readv) { char q[9] = ""; struct iovec v = {b, 3}, w = {q, 3}; process_vm_readv(getpid(), &w, 1, &v, 1, 0); r = q[0]; }
 K(name of a file) { char q[64], p[] = "/proc/self/fd/0"; p[14] = '0' + (b[0] == 'x'); r = access(p, F_OK) == 0 ? b[0] : '?'; }
 K(setlocale) { r = setlocale(LC_CTYPE, b[0] == 'a' ? "C" : "POSIX.nothing") ? 'a' : 'x'; }
 K(strerror) { r = strerror(b[0] == 'a' ? EPERM : ENOENT)[0] == 'O' ? 'a' : 'x'; }
 K(strsignal) { r = strsignal(b[0] == 'a' ? SIGHUP : SIGINT)[0] == 'H' ? 'a' : 'x'; }
 K(glob) { glob_t g; char q[16] = "/?rc"; q[1] = b[0] == 'a' ? 'p' : 'q'; strcpy(q + 2, "roc"); r = glob(q, 0, NULL, &g) == 0 ? 'a' : 'x'; }
 K(cleanup) { met = 0; pthread_cleanup_push((void (*)(void *))plain, (void *)(intptr_t)b[0]); pthread_cleanup_pop(1); r = met; }
 K(condition attribute) { pthread_condattr_t a; clockid_t q; pthread_condattr_init(&a); pthread_condattr_setclock(&a, b[0] == 'a' ? CLOCK_REALTIME : CLOCK_MONOTONIC); pthread_condattr_getclock(&a, &q); r = q == CLOCK_REALTIME ? 'a' : 'x'; }
 K(mutex attribute) { pthread_mutexattr_t a; int q; pthread_mutexattr_init(&a); pthread_mutexattr_settype(&a, b[0] == 'a' ? PTHREAD_MUTEX_NORMAL : PTHREAD_MUTEX_RECURSIVE); pthread_mutexattr_gettype(&a, &q); r = q == PTHREAD_MUTEX_NORMAL ? 'a' : 'x'; }
 K(thread attribute) { pthread_attr_t a; size_t q; pthread_attr_init(&a); pthread_attr_setguardsize(&a, b[0]); pthread_attr_getguardsize(&a, &q); r = q; }
 K(set of signals) { sigset_t s; sigemptyset(&s); sigaddset(&s, b[0] == 'a' ? SIGUSR1 : SIGUSR2); r = sigismember(&s, SIGUSR1) ? 'a' : 'x'; }
 K(mask of signals) { sigset_t s; sigemptyset(&s); if (b[0] == 'a') sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_SETMASK, &s, NULL); pthread_sigmask(0, NULL, &s); r = sigismember(&s, SIGUSR1) ? 'a' : 'x'; }
 K(exchange) { static int q; r = (__atomic_store_n(&q, b[0], 5), __atomic_exchange_n(&q, 0, 5)); }
 K(sixteen bytes) { typedef char v16 __attribute__((vector_size(16), aligned(1))); v16 v = *(v16 *)b; r = v[0]; }
 K(long double) { long double q = b[0]; volatile long double p = q; r = p; }
 K(double) { volatile double p = b[0]; r = p; }
 K(assembly) { int q = b[0]; __asm__("addl $1, %0" : "+r"(q)); r = q - 1; }
 }
}

static void section(int begins) {
  if (is_locked) begins ? pthread_mutex_lock(&lock) : pthread_mutex_unlock(&lock);
}

static void *changes(void *unused) {
  section(1);
  b[0] = 'x';
  section(0);
  return NULL;
}

static void *carries(void *row) {
  section(1);
  carry((intptr_t)row);
  section(0);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  int row = atoi(argv[1]), bad = argv[2][0];
  is_locked = argc > 3;
  pthread_key_create(&key, NULL);

  pthread_create(&one, NULL, carries, (void *)(intptr_t)row);
  pthread_create(&other, NULL, changes, NULL);
  pthread_join(other, NULL);
  pthread_join(one, NULL);
  assert(r != bad);
}
