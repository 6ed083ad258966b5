/* `cleared MODE`: a thread prints where main looks. What clears the text before it prints lets main find it
 * empty. Without a mode: the names of all, those first that clear nothing. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

int __snprintf_chk(char *, size_t, int, size_t, const char *, ...);
int __vsnprintf_chk(char *, size_t, int, size_t, const char *, va_list);
int __sprintf_chk(char *, int, size_t, const char *, ...);
int __vsprintf_chk(char *, int, size_t, const char *, va_list);
int __swprintf_chk(wchar_t *, size_t, int, size_t, const wchar_t *, ...);
int __vswprintf_chk(wchar_t *, size_t, int, size_t, const wchar_t *, va_list);

static wchar_t wide[40] = L"old";
static char *text = (char *)wide;
static int mode;

static const char *const names[] = {
    "sprintf", "vsprintf", "snprintf of nothing", "swprintf of nothing", "strcpy", "strftime",
    "snprintf", "vsnprintf", "__snprintf_chk", "__vsnprintf_chk", "__sprintf_chk", "__vsprintf_chk",
    "swprintf", "vswprintf", "__swprintf_chk", "__vswprintf_chk", "asctime_r", "ctime_r"};

static void list(int how, ...) {
  va_list list;
  va_start(list, how);
  switch (how) {
  case 1: vsprintf(text, "%d", list); break;
  case 7: vsnprintf(text, 9, "%d", list); break;
  case 9: __vsnprintf_chk(text, 9, 0, 40, "%d", list); break;
  case 11: __vsprintf_chk(text, 0, 40, "%d", list); break;
  case 13: vswprintf(wide, 9, L"%d", list); break;
  case 15: __vswprintf_chk(wide, 9, 0, 40, L"%d", list); break;
  }
  va_end(list);
}

static void *prints(void *unused) {
  struct tm date = {.tm_mday = 1};
  time_t start = 0;
  switch (mode) {
  case 0: sprintf(text, "%d", 7); break;
  case 2: snprintf(text, 0, "%d", 7); break;
  case 3: swprintf(wide, 0, L"%d", 7); break;
  case 4: strcpy(text, "7"); break;
  case 5: strftime(text, 9, "7", &date); break;
  case 6: snprintf(text, 9, "%d", 7); break;
  case 8: __snprintf_chk(text, 9, 0, 40, "%d", 7); break;
  case 10: __sprintf_chk(text, 0, 40, "%d", 7); break;
  case 12: swprintf(wide, 9, L"%d", 7); break;
  case 14: __swprintf_chk(wide, 9, 0, 40, L"%d", 7); break;
  case 16: asctime_r(&date, text); break;
  case 17: ctime_r(&start, text); break;
  default: list(mode, 7);
  }
  return unused;
}

int main(int count, char **arguments) {
  const int all = sizeof names / sizeof *names;
  if (count == 1) {
    for (int n = 0; n < all; n++) puts(names[n]);
    return 0;
  }
  while (mode < all && strcmp(names[mode], arguments[1])) mode++;
  pthread_t thread;
  pthread_create(&thread, 0, prints, 0);
  char first = *(volatile char *)text;
  pthread_join(thread, 0);
  assert(first);
  return 0;
}
