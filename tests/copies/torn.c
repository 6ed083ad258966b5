/* Functions of the C library that write or read more than a word: `torn FUNCTION FILE [mutex]`. One thread
 * calls the function, the other looks at what it writes, from the first part to the last, or writes what it
 * reads, in this order. That the first part is new and the last one old (for what is read: the other way
 * round) comes only of a call that is not one step; then the exit code is 1. With the third argument a
 * mutex keeps the two apart. Without arguments: which functions there are. FILE begins with 32 letters. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

typedef long long word;
#define LETTERS "bbbbbbbbbbbbbbbbbbbbbbb"
#define WIDE L"bbbbbbb"
static _Alignas(16) char x[128];
static _Alignas(16) char y[128];
static _Alignas(16) wchar_t w[16];
static _Alignas(16) int numbers[8] = {8, 7, 6, 5, 4, 3, 2, 1};
static _Alignas(16) struct tm date;
static _Alignas(16) struct timespec instant;
static _Alignas(16) struct timeval moment;
static _Alignas(16) struct stat facts;
static _Alignas(16) struct utsname machine;
static char *line, *rest;
static size_t room;
static int descriptor, ends[2];
static FILE *stream;
static const time_t then = 1234567890;
static const struct tm fixed = {.tm_sec = 1, .tm_mday = 2, .tm_mon = 3, .tm_year = 104};

static int print(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(x, sizeof x, format, list);
  va_end(list);
  return n;
}
static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
static int order_with(const void *a, const void *b, void *none) { return none ? 0 : order(a, b); }
static struct iovec parts[2] = {{x, 8}, {x + 16, 8}};

#define NO (void)0
#define TEXT strcpy(x, "aaaaaaaaaaaaaaaaaaaaaaaaaaa")
#define AT(n) (x[n] != 'a')
#define WIDE_TEXT wmemset(w, L'a', 10)
#define WORDS(what) (((word *)&(what))[0] != -1)
#define LAST(what, n) (((word *)&(what))[n] != -1)
#define MINUS(what) memset(&(what), -1, sizeof(what))

/* Name; what comes before; the call; has the first part changed; has the last. */
#define WRITES(X) \
  X(snprintf, TEXT, snprintf(x, sizeof x, "%s", LETTERS), AT(0), AT(16)) \
  X(snprintf_parts, TEXT, snprintf(x, sizeof x, "%d-%.12f", 12345, 0.5), AT(0), AT(16)) \
  X(sprintf, TEXT, sprintf(x, "%s", LETTERS), AT(0), AT(16)) \
  X(vsnprintf, TEXT, print("%s", LETTERS), AT(0), AT(16)) \
  X(swprintf, WIDE_TEXT, swprintf(w, 16, L"%ls", WIDE), w[0] != L'a', w[4] != L'a') \
  X(sscanf, NO, sscanf("1 2 3", "%d %d %d", &numbers[0], &numbers[2], &numbers[4]), numbers[0] == 1, numbers[4] == 3) \
  X(sscanf_text, TEXT, sscanf(LETTERS, "%s", x), AT(0), AT(16)) \
  X(fread, TEXT, fread(x, 1, 24, stream), AT(0), AT(16)) \
  X(read, TEXT, read(descriptor, x, 24), AT(0), AT(16)) \
  X(pread, TEXT, pread(descriptor, x, 24, 0), AT(0), AT(16)) \
  X(readv, TEXT, readv(descriptor, parts, 2), AT(0), AT(16)) \
  X(fgets, TEXT, fgets(x, 24, stream), AT(0), AT(16)) \
  X(getline, line = malloc(room = 64); memset(line, 'a', 64), getline(&line, &room, stream), line[0] != 'a', line[16] != 'a') \
  X(fscanf, TEXT, fscanf(stream, "%24s", x), AT(0), AT(16)) \
  X(strftime, TEXT, strftime(x, sizeof x, "%Y-%m-%d %H:%M:%S", &fixed), AT(0), AT(16)) \
  X(asctime_r, TEXT, asctime_r(&fixed, x), AT(0), AT(16)) \
  X(gmtime_r, MINUS(date), gmtime_r(&then, &date), WORDS(date), LAST(date, 2)) \
  X(localtime_r, MINUS(date), localtime_r(&then, &date), WORDS(date), LAST(date, 2)) \
  X(clock_gettime, MINUS(instant), clock_gettime(CLOCK_REALTIME, &instant), WORDS(instant), LAST(instant, 1)) \
  X(timespec_get, MINUS(instant), timespec_get(&instant, TIME_UTC), WORDS(instant), LAST(instant, 1)) \
  X(gettimeofday, MINUS(moment), gettimeofday(&moment, 0), WORDS(moment), LAST(moment, 1)) \
  X(getrandom, MINUS(x), getrandom(x, 24, 0), WORDS(x), LAST(*x, 2)) \
  X(getentropy, MINUS(x), getentropy(x, 24), WORDS(x), LAST(*x, 2)) \
  X(stat, MINUS(facts), stat("/bin/sh", &facts), WORDS(facts), LAST(facts, 3)) \
  X(uname, memset(&machine, 'a', sizeof machine), uname(&machine), machine.sysname[0] != 'a', machine.machine[0] != 'a') \
  X(getcwd, TEXT, chdir("/usr/share/common-licenses"); getcwd(x, sizeof x), AT(0), AT(16)) \
  X(inet_ntop, TEXT, inet_ntop(AF_INET6, "abcdefghijklmnop", x, sizeof x), AT(0), AT(16)) \
  X(inet_pton, MINUS(x), inet_pton(AF_INET6, "1:2:3:4:5:6:7:8", x), WORDS(x), LAST(*x, 1)) \
  X(strxfrm, TEXT, strxfrm(x, LETTERS, sizeof x), AT(0), AT(16)) \
  X(wcstombs, TEXT, wcstombs(x, L"bbbbbbbbbbbbbbbbbbbb", sizeof x), AT(0), AT(16)) \
  X(mbstowcs, WIDE_TEXT, mbstowcs(w, "bbbbbbb", 16), w[0] != L'a', w[4] != L'a') \
  X(wcsncpy, WIDE_TEXT, wcsncpy(w, WIDE, 8), w[0] != L'a', w[4] != L'a') \
  X(wcscpy, WIDE_TEXT, wcscpy(w, WIDE), w[0] != L'a', w[4] != L'a') \
  X(wcscat, *w = 0; w[4] = L'a', wcscat(w, WIDE), w[0] != 0, w[4] != L'a') \
  X(wmemset, WIDE_TEXT, wmemset(w, L'b', 8), w[0] != L'a', w[4] != L'a') \
  X(wmemcpy, WIDE_TEXT, wmemcpy(w, WIDE, 8), w[0] != L'a', w[4] != L'a') \
  X(wmemmove, WIDE_TEXT, wmemmove(w, WIDE, 8), w[0] != L'a', w[4] != L'a') \
  X(swab, TEXT, swab(LETTERS, x, 20), AT(0), AT(16)) \
  X(memfrob, TEXT, memfrob(x, 20), AT(0), AT(16)) \
  X(qsort, NO, qsort(numbers, 8, sizeof(int), order), numbers[0] == 1, numbers[7] == 8) \
  X(qsort_r, NO, qsort_r(numbers, 8, sizeof(int), order_with, 0), numbers[0] == 1, numbers[7] == 8) \
  X(strtok_r, strcpy(x, "ab,cd"); rest = x, strtok_r(0, ",", &rest), !x[2], rest != x) \
  X(strsep, strcpy(x, "ab,cd"); rest = x, strsep(&rest, ","), !x[2], rest != x)

/* Name; what comes before; the call; the other thread's first write, and its last; does the call's result
 * show that it has read the first part old and the last new? */
#define READS(X) \
  X(of_snprintf, TEXT, snprintf(y, sizeof y, "%s", x), *x = 'b', x[16] = 'b', *y == 'a' && y[16] == 'b') \
  X(of_two_texts, strcpy(x, "a"); strcpy(x + 16, "a"), snprintf(y, sizeof y, "%s%s", x, x + 16), *x = 'b', x[16] = 'b', *y == 'a' && y[1] == 'b') \
  X(of_sscanf, TEXT, sscanf(x, "%s", y), *x = 'b', x[16] = 'b', *y == 'a' && y[16] == 'b') \
  X(of_strxfrm, TEXT, strxfrm(y, x, sizeof y), *x = 'b', x[16] = 'b', *y == 'a' && y[16] == 'b') \
  X(of_write, TEXT; pipe(ends), write(ends[1], x, 24); read(ends[0], y, 24), *x = 'b', x[16] = 'b', *y == 'a' && y[16] == 'b') \
  X(of_writev, TEXT; pipe(ends), writev(ends[1], parts, 2); read(ends[0], y, 16), *x = 'b', x[16] = 'b', *y == 'a' && y[8] == 'b') \
  X(of_swab, TEXT, swab(x, y, 20), *x = 'b', x[16] = 'b', y[1] == 'a' && y[17] == 'b') \
  X(of_wmemcpy, WIDE_TEXT, wmemcpy((wchar_t *)y, w, 8), *w = 'b', w[4] = 'b', *y == 'a' && y[16] == 'b') \
  X(of_wcscpy, WIDE_TEXT; w[9] = 0, wcscpy((wchar_t *)y, w), *w = 'b', w[4] = 'b', *y == 'a' && y[16] == 'b') \
  X(of_asctime_r, date = fixed, asctime_r(&date, y), date.tm_sec = 2, date.tm_year = 105, strstr(y, ":01 2005") != 0) \
  X(of_strftime, date = fixed, strftime(y, sizeof y, "%S %Y", &date), date.tm_sec = 2, date.tm_year = 105, !strcmp(y, "01 2005")) \
  X(of_inet_pton, strcpy(x, "1:2:3:4:5:6:7:8"), inet_pton(AF_INET6, x, y), *x = '9', x[14] = '9', y[1] == 1 && y[15] == 9)

#define WRITER(name, before, call, first, last) \
  static void before_##name(void) { before; } \
  static void call_##name(void) { call; } \
  static int first_##name(void) { return first; } \
  static int last_##name(void) { return !(last); } \
  static int torn_##name(void) { return 0; }
WRITES(WRITER)
#define READER(name, before, call, first, last, torn) \
  static void before_##name(void) { before; } \
  static void call_##name(void) { call; } \
  static int first_##name(void) { first; return 1; } \
  static int last_##name(void) { last; return 0; } \
  static int torn_##name(void) { return torn; }
READS(READER)

static const struct {
  const char *name;
  void (*before)(void), (*call)(void);
  int (*first)(void), (*last)(void), (*torn)(void);
} modes[] = {
#define MODE(name, ...) {#name, before_##name, call_##name, first_##name, last_##name, torn_##name},
    WRITES(MODE) READS(MODE)};

static size_t mode;
static int locked, torn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *thread(void *none) {
  if (locked) pthread_mutex_lock(&mutex);
  if (modes[mode].first()) torn |= modes[mode].last();
  if (locked) pthread_mutex_unlock(&mutex);
  return none;
}

int main(int count, char **words) {
  size_t n = sizeof modes / sizeof *modes;
  if (count < 3) {
    for (size_t i = 0; i < n; i++) puts(modes[i].name);
    return 0;
  }
  while (mode < n && strcmp(words[1], modes[mode].name)) mode++;
  if (mode == n) return 2;
  locked = count > 3;
  descriptor = open(words[2], O_RDONLY);
  stream = fopen(words[2], "r");
  modes[mode].before();
  pthread_t second;
  pthread_create(&second, 0, thread, 0);
  if (locked) pthread_mutex_lock(&mutex);
  modes[mode].call();
  if (locked) pthread_mutex_unlock(&mutex);
  pthread_join(second, 0);
  return torn || modes[mode].torn();
}
