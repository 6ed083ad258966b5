/* Two threads, one of them in a function of the C library, on the same memory: `shared MODE`. `value` is
 * what the first thread has left if it came last; the program fails in one of the two orders. With `LOCKED`
 * each is under a mutex. */
#define _GNU_SOURCE
#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static char text[16] = "1", other[16] = "1";
static char *place;
static int number, result;
static double real;
static time_t seconds;
static struct timespec spec;
static struct tm tm;
static struct stat status;
static char *line;
static size_t room, count;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

/* Name; what the function is called for; what the other thread does; what is so if that came last. */
#define MODES(X) \
  X(read, read(0, text, 1), text[0] = '3', text[0] == '3') \
  X(readv, struct iovec v = {0}; v.iov_base = text; v.iov_len = 1; readv(0, &v, 1), text[0] = '3', text[0] == '3') \
  X(pread, pread(0, text, 1, 0), text[0] = '3', text[0] == '3') \
  X(fread, fread(text, 1, 1, stdin), text[0] = '3', text[0] == '3') \
  X(fgets, fgets(text, 4, stdin), text[0] = '3', text[0] == '3') \
  X(getline, line = 0; room = 0; getline(&line, &room, stdin), room = 7, room == 7) \
  X(scanf, scanf("%d", &number), number = 3, number == 3) \
  X(fscanf, fscanf(stdin, "%3s", text), text[0] = '3', text[0] == '3') \
  X(sscanf, sscanf("5", "%d", &number), number = 3, number == 3) \
  X(frexp, frexp(16.0, &number), number = 3, number == 3) \
  X(modf, modf(2.5, &real), real = 3, real == 3) \
  X(strtol, strtol("12", &place, 10), place = text, place == text) \
  X(strtod, strtod("1.2", &place), place = text, place == text) \
  X(snprintf, snprintf(text, 4, "%d", 5), text[0] = '3', text[0] == '3') \
  X(gmtime_r, time_t t = 0; gmtime_r(&t, &tm), tm.tm_year = 3, tm.tm_year == 3) \
  X(clock_gettime, clock_gettime(CLOCK_REALTIME, &spec), spec.tv_nsec = -3, spec.tv_nsec == -3) \
  X(time, time(&seconds), seconds = 3, seconds == 3) \
  X(stat, stat("/", &status), status.st_mode = 3, status.st_mode == 3) \
  X(strftime, static struct tm t; strftime(text, 8, "%Y", &t), text[0] = '3', text[0] == '3') \
  X(getcwd, getcwd(text, 2), text[0] = '3', text[0] == '3') \
  X(rand_r, rand_r((unsigned *)&number), number = 3, number == 3) \
  X(atoi, result = atoi(text), text[0] = '3', result != 3) \
  X(strcasecmp, result = strcasecmp(text, other), text[0] = '3', result == 0) \
  X(strstr, result = strstr(text, other) == 0, text[0] = '3', result == 0) \
  X(text, char b[8]; snprintf(b, 8, "%s", text); result = b[0], text[0] = '3', result == '1') \
  X(memccpy, memccpy(other, text, 0, 4), text[0] = '3', other[0] == '1')

#define DECLARE(name, call, access, last) \
  static void call_##name(void) { call; } \
  static void access_##name(void) { access; } \
  static int last_##name(void) { return last; }
MODES(DECLARE)

/* What a row cannot say. */
static void unknown(void) { lsearch(&number, &result, &count, sizeof(int), (int (*)(const void *, const void *))memcmp); }

static const struct {
  const char *name;
  void (*call)(void), (*access)(void);
  int (*last)(void);
} modes[] = {
#define MODE(name, call, access, last) {#name, call_##name, access_##name, last_##name},
    MODES(MODE){"unknown", unknown, access_frexp, last_rand_r}};

static int mode;

static void *thread(void *first) {
#ifdef LOCKED
  pthread_mutex_lock(&mutex);
#endif
  if (first) modes[mode].call();
  else modes[mode].access();
#ifdef LOCKED
  pthread_mutex_unlock(&mutex);
#endif
  return 0;
}

int main(int argc, char **argv) {
  (void)argc;
  for (mode = 0; strcmp(modes[mode].name, argv[1]); mode++) {}
  if (chdir("/")) return 2;
  pthread_t a, b;
  pthread_create(&b, 0, thread, 0);
  pthread_create(&a, 0, thread, &a);
  pthread_join(a, 0);
  pthread_join(b, 0);
  assert(modes[mode].last());
  return 0;
}
