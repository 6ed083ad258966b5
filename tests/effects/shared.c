/* Two threads, one of them in a function of the C library, on the same memory: `shared MODE`. `value` is
 * what the first thread has left if it came last; the program fails in one of the two orders. With `LOCKED`
 * each is under a mutex; with `RIGHT` one thread comes after the other, and nothing fails. Without a mode it
 * lists all. */
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <iconv.h>
#include <math.h>
#include <netinet/in.h>
#include <pthread.h>
#include <regex.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <uchar.h>
#include <unistd.h>
#include <wchar.h>

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
static wchar_t wide[16] = L"1", wide_other[16] = L"1", *wide_place;
static mbstate_t state;
static regex_t expression;
static regmatch_t match[2];
static struct sockaddr_in address;
static socklen_t length;
static struct dirent entry, *found;
static char entries[64];
static FILE *stream;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int list(int (*f)(const char *, va_list), const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = f(format, arguments);
  va_end(arguments);
  return read;
}
static int of_input(const char *format, va_list arguments) { return vscanf(format, arguments); }
static int in_list(const char *format, va_list arguments) { return vfscanf(stdin, format, arguments); }
static int of_text(const char *format, va_list arguments) { return vsscanf("5", format, arguments); }
static int wide_list(int (*f)(const wchar_t *, va_list), const wchar_t *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int read = f(format, arguments);
  va_end(arguments);
  return read;
}
static int of_wide_input(const wchar_t *format, va_list arguments) { return vwscanf(format, arguments); }
static int wide_in_list(const wchar_t *format, va_list arguments) { return vfwscanf(stdin, format, arguments); }
static int of_wide_text(const wchar_t *format, va_list arguments) { return vswscanf(L"5", format, arguments); }
static int prints(const wchar_t *format, va_list arguments) { return vswprintf(wide, 8, format, arguments); }

/* A socket from which there is something to get. */
static int sent(void) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) || send(ends[0], "5", 1, 0) != 1) abort();
  return ends[1];
}
/* The same of the network: who has sent it is told as well. */
static int sent_from(void) {
  struct sockaddr_in own = {AF_INET, 0, {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof own;
  int to = socket(AF_INET, SOCK_DGRAM, 0);
  if (bind(to, (struct sockaddr *)&own, size) || getsockname(to, (struct sockaddr *)&own, &size)) abort();
  if (sendto(to, "5", 1, 0, (struct sockaddr *)&own, size) != 1) abort();
  return to;
}
/* What comes out at the other end of a pair of sockets. */
static int got(int ends[2]) {
  char c = 0;
  return recv(ends[1], &c, 1, 0) == 1 ? c : -1;
}
static void into_two(void) {
  struct iovec fields[2] = {{other, 1}, {text, 4}};
  readv(0, fields, 2);
}
static int by_byte(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int converted(void) {
  char *from = text, to[4], *behind = to;
  size_t left = 1, room_left = sizeof to;
  iconv(iconv_open("LATIN1", "UTF-8"), &from, &left, &behind, &room_left);
  return to[0];
}
#define FIELD(name, at) struct iovec name = {at, 1}
#define HEADER(name, at) FIELD(field, at); struct msghdr name = {.msg_iov = &field, .msg_iovlen = 1}
#define PAIR(ends) int ends[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, ends)

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
  X(stat, stat("/bin/sh", &status), status.st_mode = 3, status.st_mode == 3) \
  X(strftime, static struct tm t; strftime(text, 8, "%Y", &t), text[0] = '3', text[0] == '3') \
  X(getcwd, getcwd(text, 2), text[0] = '3', text[0] == '3') \
  X(rand_r, rand_r((unsigned *)&number), number = 3, number == 3) \
  X(atoi, result = atoi(text), text[0] = '3', result != 3) \
  X(strcasecmp, result = strcasecmp(text, other), text[0] = '3', result == 0) \
  X(strstr, result = strstr(text, other) == 0, text[0] = '3', result == 0) \
  X(text, char b[8]; snprintf(b, 8, "%s", text); result = b[0], text[0] = '3', result == '1') \
  X(memccpy, memccpy(other, text, 0, 4), text[0] = '3', other[0] == '1') \
  X(preadv, FIELD(v, text); preadv(0, &v, 1, 0), text[0] = '3', text[0] == '3') \
  X(preadv2, FIELD(v, text); preadv2(0, &v, 1, 0, 0), text[0] = '3', text[0] == '3') \
  X(two_fields, into_two(), text[0] = '3', text[0] == '3') \
  X(writev, PAIR(e); FIELD(v, text); writev(e[0], &v, 1); result = got(e), text[0] = '3', result == '1') \
  X(vscanf, list(of_input, "%d", &number), number = 3, number == 3) \
  X(vfscanf, list(in_list, "%d", &number), number = 3, number == 3) \
  X(vsscanf, list(of_text, "%d", &number), number = 3, number == 3) \
  X(wscanf, wscanf(L"%d", &number), number = 3, number == 3) \
  X(fwscanf, fwscanf(stdin, L"%3s", text), text[0] = '3', text[0] == '3') \
  X(swscanf, swscanf(L"5", L"%l[0-9]", wide), wide[0] = '3', wide[0] == '3') \
  X(vwscanf, wide_list(of_wide_input, L"%d", &number), number = 3, number == 3) \
  X(vfwscanf, wide_list(wide_in_list, L"%d", &number), number = 3, number == 3) \
  X(vswscanf, wide_list(of_wide_text, L"%d", &number), number = 3, number == 3) \
  X(fgetws, fgetws(wide, 4, stdin), wide[0] = '3', wide[0] == '3') \
  X(getdelim, line = 0; room = 0; getdelim(&line, &room, '5', stdin), room = 7, room == 7) \
  X(recv, recv(sent(), text, 1, 0), text[0] = '3', text[0] == '3') \
  X(recvfrom, recvfrom(sent(), text, 1, 0, 0, 0), text[0] = '3', text[0] == '3') \
  X(sender, length = sizeof address; char c; recvfrom(sent_from(), &c, 1, 0, (struct sockaddr *)&address, &length), address.sin_family = 3, address.sin_family == 3) \
  X(recvmsg, HEADER(h, text); recvmsg(sent(), &h, 0), text[0] = '3', text[0] == '3') \
  X(recvmmsg, struct mmsghdr m = {0}; FIELD(v, text); m.msg_hdr.msg_iov = &v; m.msg_hdr.msg_iovlen = 1; recvmmsg(sent(), &m, 1, 0, 0), text[0] = '3', text[0] == '3') \
  X(sendmsg, PAIR(e); HEADER(h, text); sendmsg(e[0], &h, 0); result = got(e), text[0] = '3', result == '1') \
  X(sendmmsg, PAIR(e); struct mmsghdr m = {0}; FIELD(v, text); m.msg_hdr.msg_iov = &v; m.msg_hdr.msg_iovlen = 1; sendmmsg(e[0], &m, 1, 0); result = got(e), text[0] = '3', result == '1') \
  X(by_number, syscall(SYS_read, 0, text, 1), text[0] = '3', text[0] == '3') \
  X(getsockname, length = sizeof address; getsockname(sent_from(), (struct sockaddr *)&address, &length), address.sin_family = 3, address.sin_family == 3) \
  X(wcstol, wcstol(L"12", &wide_place, 10), wide_place = wide, wide_place == wide) \
  X(wcstod, wcstod(L"1.2", &wide_place), wide_place = wide, wide_place == wide) \
  X(wide_number, result = wcstol(wide, 0, 10), wide[0] = '3', result != 3) \
  X(wide_real, result = wcstod(wide, 0), wide[0] = '3', result != 3) \
  X(atof, result = atof(text), text[0] = '3', result != 3) \
  X(regexec, regcomp(&expression, "5", 0); regexec(&expression, "45", 2, match, 0), match[0].rm_so = 3, match[0].rm_so == 3) \
  X(printf, printf("a%n\n", &number), number = 3, number == 3) \
  X(count, char b[8]; snprintf(b, 8, "a%n", &number), number = 3, number == 3) \
  X(getdents64, getdents64(open("/", O_RDONLY), entries, sizeof entries), entries[19] = 3, entries[19] == 3) \
  X(readdir_r, readdir_r(opendir("/"), &entry, &found), entry.d_reclen = 3, entry.d_reclen == 3) \
  X(wcsftime, static struct tm t; wcsftime(wide, 8, L"%Y", &t), wide[0] = '3', wide[0] == '3') \
  X(strptime, strptime("2001", "%Y", &tm), tm.tm_year = 3, tm.tm_year == 3) \
  X(mbstowcs, mbstowcs(wide, "5", 4), wide[0] = '3', wide[0] == '3') \
  X(wcstombs, wcstombs(text, L"5", 4), text[0] = '3', text[0] == '3') \
  X(mbsrtowcs, const char *p = "5"; mbsrtowcs(wide, &p, 4, 0), wide[0] = '3', wide[0] == '3') \
  X(wcsrtombs, const wchar_t *p = L"5"; wcsrtombs(text, &p, 4, 0), text[0] = '3', text[0] == '3') \
  X(mbrtowc, mbrtowc(wide, "5", 1, &state), wide[0] = '3', wide[0] == '3') \
  X(wcrtomb, wcrtomb(text, '5', &state), text[0] = '3', text[0] == '3') \
  X(mbtowc, result = mbtowc(wide_other, text, 1) && wide_other[0] == '3', text[0] = '3', result == 0) \
  X(converts, wchar_t b[4]; mbstowcs(b, text, 4); result = b[0], text[0] = '3', result == '1') \
  X(iconv, result = converted(), text[0] = '3', result == '1') \
  X(swprintf, swprintf(wide, 8, L"%d", 5), wide[0] = '3', wide[0] == '3') \
  X(vswprintf, wide_list(prints, L"%d", 5), wide[0] = '3', wide[0] == '3') \
  X(wide_text, wchar_t b[8]; swprintf(b, 8, L"%ls", wide); result = b[0], wide[0] = '3', result == '1') \
  X(wcscpy, wcscpy(wide, L"5"), wide[0] = '3', wide[0] == '3') \
  X(wcscat, wcscat(wide, L"5"), wide[0] = 0, wide[0] == 0) \
  X(wcscmp, result = wcscmp(wide, wide_other), wide[0] = '3', result == 0) \
  X(wcsstr, result = wcsstr(wide, wide_other) == 0, wide[0] = '3', result == 0) \
  X(wcslen, result = wcslen(wide), wide[1] = '3', result == 1) \
  X(wcstok, wide_place = 0; wcstok(wide, L"2", &wide_place), wide_place = wide, wide_place == wide) \
  X(wmemcpy, wmemcpy(wide, L"5", 1), wide[0] = '3', wide[0] == '3') \
  X(strcoll, result = strcoll(text, other), text[0] = '3', result == 0) \
  X(strsep, place = other; char *p = strsep(&place, "1"), place = text, place == text) \
  X(qsort, text[1] = '0'; qsort(text, 2, 1, by_byte), text[0] = '3', text[0] == '3') \
  X(asprintf, asprintf(&place, "5"), place = text, place == text) \
  X(wait, if (!fork()) _exit(1); wait(&number), number = 3, number == 3) \
  X(fgetwc, number = fgetwc(stdin), number = 3, number == 3) \
  X(stream, result = fgetwc(stream), fseek(stream, 1, SEEK_SET), result == 'a') \
  X(wide_argument, char b[8]; snprintf(b, 8, "%ls", wide); result = b[0], wide[0] = '3', result == '1') \
  X(format, char b[8]; snprintf(b, 8, text, 7); result = b[0], text[0] = '3', result == '1') \
  X(getcpu, unsigned *n = (unsigned *)&number; getcpu(n, 0), number = 3, number == 3)

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
  if (argc < 2) {
    for (mode = 0; modes[mode].call != unknown; mode++) puts(modes[mode].name);
    return 0;
  }
  for (mode = 0; strcmp(modes[mode].name, argv[1]); mode++) {}
  if (chdir("/")) return 2;
  if (!strcmp(argv[1], "stream")) {
    stream = tmpfile();
    fputws(L"ab", stream);
    rewind(stream);
  }
  pthread_t a, b;
#ifdef RIGHT
  pthread_create(&a, 0, thread, &a);
  pthread_join(a, 0);
  pthread_create(&b, 0, thread, 0);
  pthread_join(b, 0);
#else
  pthread_create(&b, 0, thread, 0);
  pthread_create(&a, 0, thread, &a);
  pthread_join(a, 0);
  pthread_join(b, 0);
#endif
  assert(modes[mode].last());
  return 0;
}
