/* Pairs of operations on the same memory, in two threads. `pairs FILE A B A B ...` picks one of the pairs
 * by a choice that an exhaustive search takes in every way, and marks in FILE, four bytes for a pair, what
 * came of it: as if A had come first, as if B had, or neither. `pairs` alone says which operations there
 * are: number, area, whether the two orders of each with itself differ. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <iconv.h>
#include <langinfo.h>
#include <libgen.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <pwd.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static struct {
  char text[48], other[48];
  wchar_t wide[16], wother[16];
  int numbers[8];
  double real[2];
  float small[2];
  char *place;
  wchar_t *wplace;
  char *rest;
  size_t size;
  long whole;
  time_t seconds;
  struct timespec spec;
  struct timeval val;
  struct tm tm;
  struct stat stat;
  sigset_t set;
  pthread_attr_t attr;
  regmatch_t match[2];
  struct in_addr net;
} s, begin;

static long found[2];
static FILE *stream, *second;
static int file;
static sem_t sem;
static regex_t regex;
static struct tm *own;
static char *line;
static size_t room;

#define R found[me]
#define LIST(X) \
  X(T, s.text[0] = 'x') X(T, s.text[1] = 'y') X(T, s.text[2] = 0) X(T, s.text[4] = '7') \
  X(T, s.text[9] = 'z') X(T, R = s.text[0]) X(T, R = s.text[1]) X(T, R = s.text[3]) X(T, R = s.text[6]) \
  X(T, s.text[12] = 'Q') X(T, R = s.text[12]) X(T, s.other[0] = '8') X(T, s.other[1] = 0) \
  X(T, R = s.other[0]) X(T, R = s.other[2]) \
  X(T, R = strlen(s.text)) X(T, R = strnlen(s.text, 5)) X(T, R = strcmp(s.text, s.other)) \
  X(T, R = strncmp(s.text, s.other, 2)) X(T, R = strcasecmp(s.text, s.other)) \
  X(T, R = strncasecmp(s.text, s.other, 3)) X(T, R = strcoll(s.text, s.other)) \
  X(T, R = memcmp(s.text, s.other, 8) < 0) X(T, strcpy(s.other, s.text)) X(T, strcpy(s.text, s.other)) \
  X(T, strncpy(s.text, s.other, 12)) X(T, stpcpy(s.text, s.other)) X(T, strcat(s.text, s.other)) \
  X(T, strncat(s.other, s.text, 3)) X(T, mempcpy(s.text, s.other, 7)) X(T, memccpy(s.text, s.other, '5', 9)) \
  X(T, bzero(s.text, 3)) X(T, explicit_bzero(s.text + 2, 6)) X(T, swab(s.text, s.other, 6)) \
  X(T, R = (long)strchr(s.text, '4')) X(T, R = (long)strrchr(s.text, '1')) X(T, R = (long)memchr(s.text, '4', 9)) \
  X(T, R = (long)strstr(s.text, "34")) X(T, R = (long)strstr(s.text, s.other)) \
  X(T, R = (long)strcasestr(s.text, "x")) X(T, R = (long)strpbrk(s.text, "46")) \
  X(T, R = strspn(s.text, "123")) X(T, R = strcspn(s.text, "45")) X(T, R = strspn(s.text, s.other)) \
  X(T, R = (long)memmem(s.text, 12, "45", 2)) X(T, R = fnmatch("1*4*", s.text, 0)) \
  X(T, R = fnmatch(s.other, s.text, 0)) X(T, R = atoi(s.text)) X(T, R = atol(s.other)) \
  X(T, R = atof(s.text)) X(T, R = strtol(s.text, 0, 10)) X(T, R = strtol(s.text, &s.place, 0)) \
  X(T, R = strtoull(s.text, &s.place, 16)) X(T, R = strtod(s.text, &s.place)) X(T, R = strtof(s.other, 0)) \
  X(T, R = sscanf(s.text, "%2d%1s", &s.numbers[0], s.other)) X(T, R = sscanf(s.text, "%3[0-9]", s.other)) \
  X(T, R = sscanf(s.other, "%d", &s.numbers[1])) X(T, R = sscanf("7 8", "%d %d", &s.numbers[0], &s.numbers[1])) \
  X(T, R = snprintf(s.text, 8, "%d", s.numbers[0])) X(T, R = snprintf(s.other, 8, "%.3s", s.text)) \
  X(T, R = sprintf(s.text, "<%s>", s.other)) X(T, R = print(s.text, 9, "%s", s.other)) \
  X(T, char b[64]; R = snprintf(b, 64, "%s", s.text); R += b[0]) \
  X(T, char *b = strdup(s.text); R = b[0]; free(b)) X(T, char *b = strndup(s.text, 2); R = b[0]; free(b)) \
  X(T, char *b; R = asprintf(&b, "%s%s", s.text, s.other); R += b[0]; free(b)) \
  X(T, char *r; char *b = strtok_r(s.text, "4", &r); R = b ? b[0] : 0) \
  X(T, char *b = strtok_r(0, "6", &s.rest); R = b ? b[0] : 0) X(T, char *b = strsep(&s.rest, "5"); R = b ? b[0] : 0) \
  X(T, char *b = strtok(s.text, "3"); R = b ? b[0] : 0) X(T, s.rest = s.other) X(T, R = s.rest == s.text) \
  X(T, R = strxfrm(s.other, s.text, 20)) X(T, R = regexec(&regex, s.text, 2, s.match, 0)) \
  X(T, regerror(REG_BADPAT, &regex, s.text, 12)) X(T, R = a64l(s.text)) X(T, dirname(s.text)) \
  X(T, R = mbstowcs(s.wide, s.text, 4)) X(T, R = mbtowc(s.wide, s.text, 3)) X(T, R = inet_addr(s.text)) \
  X(T, R = inet_pton(AF_INET, s.other, &s.net)) X(T, R = (long)inet_ntop(AF_INET, &s.net, s.text, 20)) \
  X(T, R = inet_aton(s.text, &s.net)) X(T, s.net.s_addr = 5) X(T, R = s.net.s_addr) \
  X(T, R = (long)getcwd(s.text, 2)) X(T, strerror_r(2, s.other, 20)) X(T, R = read(file, s.text, 3)) \
  X(T, R = pread(file, s.other, 4, 2)) X(T, struct iovec v[] = {{s.text, 2}, {s.other, 2}}; R = readv(file, v, 2)) \
  X(T, R = (long)fgets(s.text, 5, stream)) X(T, R = fread(s.other, 2, 2, stream)) X(T, R = fgetc(stream)) \
  X(T, R = fscanf(stream, "%2s", s.text)) X(T, R = fscanf(second, "%d", &s.numbers[0])) X(T, R = lseek(file, 1, SEEK_CUR)) \
  X(T, R = getline(&line, &room, stream); R += line[0]) X(T, R = fseek(stream, 2, SEEK_CUR)) X(T, R = ungetc('k', second)) \
  X(T, R = readlink("/proc/self/exe", s.text, 4)) X(T, R = gethostname(s.other, 40)) \
  X(T, R = getrandom(s.text + 20, 0, 0)) X(T, R = confstr(_CS_PATH, s.text, 10)) \
  X(T, char b[] = "x"; char *i = s.text, *o = s.other; size_t m = 3, n = 3; iconv_t c = iconv_open("UTF-8", "LATIN1"); \
       iconv(c, &i, &m, &o, &n); iconv_close(c); R = b[0]) \
  X(T, setenv("PAIRS", s.text, 1)) X(T, char *e = getenv("PAIRS"); R = e ? e[0] : 0) X(T, setenv("PAIRS", "u", 1)) \
  X(T, unsetenv("PAIRS")) \
  X(W, s.wide[0] = L'x') X(W, s.wide[2] = 0) X(W, R = s.wide[0]) X(W, R = s.wide[3]) X(W, s.wother[0] = L'4') \
  X(W, R = s.wother[1]) X(W, R = wcslen(s.wide)) X(W, R = wcsnlen(s.wide, 2)) X(W, wcscpy(s.wide, s.wother)) \
  X(W, wcsncpy(s.wother, s.wide, 5)) X(W, wcscat(s.wide, s.wother)) X(W, wmemcpy(s.wide, s.wother, 2)) \
  X(W, wmemset(s.wide, L'9', 2)) X(W, R = wcscmp(s.wide, s.wother)) X(W, R = wcscasecmp(s.wide, s.wother)) \
  X(W, R = wmemcmp(s.wide, s.wother, 2)) X(W, R = (long)wcschr(s.wide, L'3')) X(W, R = (long)wcsstr(s.wide, s.wother)) \
  X(W, R = wcsspn(s.wide, L"12")) X(W, R = wcscspn(s.wide, L"34")) X(W, R = wcstol(s.wide, &s.wplace, 10)) \
  X(W, R = wcstod(s.wide, 0)) X(W, R = (long)s.wplace) X(W, R = swprintf(s.wide, 6, L"%ls", s.wother)) \
  X(W, R = swscanf(s.wide, L"%1d%1ls", &s.numbers[2], s.wother)) X(W, R = wcstombs(s.text, s.wide, 5)) \
  X(W, wchar_t *r; wchar_t *b = wcstok(s.wide, L"3", &r); R = b ? b[0] : 0) X(W, R = (long)wmemchr(s.wide, L'4', 4)) \
  X(N, s.numbers[0] = 3) X(N, s.numbers[1] = 5) X(N, R = s.numbers[0]) X(N, R = s.numbers[1]) X(N, R = s.numbers[2]) \
  X(N, R = frexp(16.0, &s.numbers[0]) * 8) X(N, R = frexpf(8.0f, &s.numbers[1]) * 8) \
  X(N, R = remquo(7.0, 2.0, &s.numbers[0])) X(N, R = lgamma_r(0.5, &s.numbers[1])) \
  X(N, R = rand_r((unsigned *)&s.numbers[0])) X(N, qsort(s.numbers, 3, sizeof(int), compare)) \
  X(N, R = sem_getvalue(&sem, &s.numbers[0])) X(N, s.numbers[2] = sem_post(&sem)) X(N, R = pipe2(s.numbers + 6, -1)) \
  X(N, s.real[0] = 2.5) X(N, R = s.real[0] * 4) X(N, R = modf(3.25, &s.real[0]) * 8) X(N, R = modff(3.25f, &s.small[0]) * 8) \
  X(N, sincos(0.0, &s.real[0], &s.real[1])) X(N, R = s.small[0] * 2) X(N, R = s.real[1]) \
  X(N, R = rand()) X(N, srand(7)) X(N, R = random() % 1000) X(N, R = drand48() * 100) X(N, srand48(3)) \
  X(N, R = erand48((unsigned short *)s.numbers) * 100) X(N, R = nrand48((unsigned short *)s.numbers) % 100) \
  X(N, R = (long)bsearch(&s.numbers[1], s.numbers, 4, sizeof(int), compare)) \
  X(M, s.seconds = 5) X(M, R = s.seconds > 0) X(M, time(&s.seconds)) X(M, clock_gettime(CLOCK_MONOTONIC, &s.spec)) \
  X(M, s.spec.tv_nsec = -1) X(M, R = s.spec.tv_nsec >= 0) X(M, gettimeofday(&s.val, 0)) X(M, s.val.tv_usec = -1) \
  X(M, R = s.val.tv_usec >= 0) X(M, clock_getres(CLOCK_REALTIME, &s.spec)) X(M, timespec_get(&s.spec, TIME_UTC)) \
  X(M, s.tm.tm_year = 1) X(M, R = s.tm.tm_year) X(M, s.tm.tm_mday = 40) X(M, time_t t = 0; gmtime_r(&t, &s.tm)) \
  X(M, R = mktime(&s.tm)) X(M, R = strftime(s.text, 20, "%Y", &s.tm)) X(M, asctime_r(&s.tm, s.text)) \
  X(M, time_t t = 99; ctime_r(&t, s.text)) X(M, R = s.text[3]) X(M, s.text[3] = '-') \
  X(M, time_t t = 0; own = gmtime(&t)) X(M, R = own->tm_year) X(M, time_t t = 1000000000; own = gmtime(&t)) \
  X(M, strptime("2001", s.other, &s.tm)) X(M, own->tm_year = 9) X(M, time_t t = 86400; R = localtime(&t)->tm_mday) \
  X(F, R = stat("/bin/sh", &s.stat)) X(F, s.stat.st_mode = 1) X(F, R = s.stat.st_mode > 1) X(F, R = fstat(0, &s.stat)) \
  X(F, sigemptyset(&s.set)) X(F, sigaddset(&s.set, 5)) X(F, R = sigismember(&s.set, 5)) X(F, sigfillset(&s.set)) \
  X(F, pthread_attr_init(&s.attr)) X(F, pthread_attr_setdetachstate(&s.attr, 1)) \
  X(F, pthread_attr_getdetachstate(&s.attr, &s.numbers[0])) X(F, R = s.numbers[0]) X(F, pthread_attr_getstacksize(&s.attr, &s.size)) \
  X(F, s.size = 1) X(F, R = s.size > 1) X(F, sigprocmask(SIG_BLOCK, 0, &s.set)) X(F, s.numbers[0] = 2) \
  X(F, pthread_sigmask(SIG_BLOCK, &s.set, 0)) X(F, R = umask(022)) X(F, umask(077)) X(F, pthread_getname_np(pthread_self(), s.text, 40)) \
  X(F, s.text[1] = 'y') X(F, R = s.text[1]) X(F, struct rlimit l; R = getrlimit(RLIMIT_NOFILE, &l))

static int compare(const void *a, const void *b) {
  int x = *(const int *)a, y = *(const int *)b;
  return x < y ? -1 : x > y;
}

static int print(char *to, size_t n, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int result = vsnprintf(to, n, format, list);
  va_end(list);
  return result;
}

#define OPERATION(area, ...) {#area[0], #__VA_ARGS__},
static const struct { char area; const char *text; } operations[] = {LIST(OPERATION)};
enum { COUNT = sizeof operations / sizeof *operations };

static void perform(int which, int me) {
  int n = 0;
#define CASE(area, ...)                                                                             \
  if (which == n++) {                                                                               \
    __VA_ARGS__;                                                                                    \
    return;                                                                                         \
  }
  LIST(CASE)
}

static void reset(void) {
  s = begin;
  s.rest = s.text;
  own = &s.tm;
  found[0] = found[1] = -1;
  srand(1);
  srandom(1);
  srand48(1);
  umask(0);
  unsetenv("PAIRS");
  lseek(file, 0, SEEK_SET);
  rewind(stream);
  rewind(second);
  sem_init(&sem, 0, 1);
  time_t start = 1;
  own = gmtime(&start);
  static char none[1];
  strtok(none, "x");
  if (line) line[0] = 0;
  room = line ? room : 0;
}

static unsigned long hash(unsigned long h, const void *data, size_t size) {
  const unsigned char *bytes = data;
  while (size--) h = (h ^ *bytes++) * 1099511628211ul;
  return h;
}

#define MIX(x) h = hash(h, &(x), sizeof(x))

/* All that the operations can change; of clocks only whether they were looked at. */
static unsigned long state(void) {
  unsigned long h = 14695981039346656037ul;
  MIX(s.text); MIX(s.other); MIX(s.wide); MIX(s.wother); MIX(s.numbers); MIX(s.real); MIX(s.small);
  MIX(s.place); MIX(s.wplace); MIX(s.rest); MIX(s.whole); MIX(s.net); MIX(s.match); MIX(found);
  int looked[] = {s.seconds > 5, s.seconds == 5, s.spec.tv_nsec >= 0, s.val.tv_usec >= 0,
                  s.stat.st_mode > 1, s.stat.st_mode == 1, s.size > 1, s.size == 1};
  MIX(looked); MIX(s.tm.tm_year); MIX(s.tm.tm_mday); MIX(s.tm.tm_mon);
  int signals[] = {sigismember(&s.set, 5), sigismember(&s.set, 6)};
  MIX(signals);
  MIX(own->tm_year);
  long at[] = {lseek(file, 0, SEEK_CUR), ftell(stream), ftell(second)};
  MIX(at);
  const char *value = getenv("PAIRS");
  if (value) h = hash(h, value, strlen(value));
  int next[] = {rand() % 1000, (int)(drand48() * 1000)};
  MIX(next);
  int count;
  sem_getvalue(&sem, &count);
  MIX(count);
  if (line) MIX(line[0]);
  return h;
}

static unsigned long in_turn(int first, int a, int b) {
  reset();
  perform(first ? b : a, first);
  perform(first ? a : b, !first);
  return state();
}

static int chosen[2];
static _Atomic int choice;
static int choices;

static void *chooser(void *unused) {
  for (int i = 1; i < choices; i++) atomic_store(&choice, i);
  return unused;
}

static void *thread(void *me) {
  perform(chosen[(long)me], (int)(long)me);
  return 0;
}

static FILE *scratch(const char *content) {
  FILE *made = tmpfile();
  fputs(content, made);
  fflush(made);
  return made;
}

int main(int count, char **arguments) {
  strcpy(begin.text, "1234567");
  strcpy(begin.other, "95");
  wcscpy(begin.wide, L"1234");
  wcscpy(begin.wother, L"34");
  for (int i = 0; i < 8; i++) begin.numbers[i] = 20 - i;
  begin.seconds = 1;
  begin.spec.tv_nsec = begin.val.tv_usec = -1;
  begin.tm.tm_mday = 3;
  begin.tm.tm_year = 70;
  pthread_attr_init(&begin.attr);
  sigemptyset(&begin.set);
  regcomp(&regex, "([3-5]+)", REG_EXTENDED);
  stream = scratch("ab cd\nefghij\n");
  second = scratch("12 34 56\n");
  file = fileno(scratch("klmnopqr"));
  if (count == 1) {
    for (int i = 0; i < COUNT; i++)
      printf("%d %c %d %s\n", i, operations[i].area, in_turn(0, i, i) != in_turn(1, i, i), operations[i].text);
    return 0;
  }
  choices = (count - 2) / 2;
  pthread_t chooses, threads[2];
  pthread_create(&chooses, 0, chooser, 0);
  int pair = atomic_load(&choice);
  for (int i = 0; i < 2; i++) chosen[i] = atoi(arguments[2 + 2 * pair + i]);
  unsigned long orders[] = {in_turn(0, chosen[0], chosen[1]), in_turn(1, chosen[0], chosen[1])};
  reset();
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, thread, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  unsigned long result = state();
  pthread_join(chooses, 0);
  /* Bytes: the first order, the second, another one, the orders are one. */
  int out = open(arguments[1], O_WRONLY);
  if (orders[0] == orders[1]) pwrite(out, "1", 1, 4 * pair + 3);
  pwrite(out, "1", 1, 4 * pair + (result == orders[0] ? 0 : result == orders[1] ? 1 : 2));
  close(out);
  return 0;
}
