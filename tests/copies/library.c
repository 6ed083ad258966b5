/* One thread in a function of the C library that only accesses memory, while the other writes a few bytes
 * there: `library FUNCTION OTHER [loops]`. The exit code tells what came of it. With the third argument,
 * functions that have one are loops of the program's own. Without arguments: which functions there are,
 * and whether they have one. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static _Alignas(8) char x[32] = "abcd", y[32] = "pq";
static const char *word = "wxyz";
static int r;
static char *p;

static size_t my_length(const char *s, size_t most) {
  size_t n = 0;
  while (n < most && s[n]) n++;
  return n;
}
static void my_copy(char *to, const char *from, size_t n) { memcpy(to, from, n); }
static int my_compare(const char *a, const char *b, size_t most) {
  for (size_t i = 0; i < most; i++) {
    char u = a[i], v = b[i];
    if (u != v) return u - v;
    if (!u) break;
  }
  return 0;
}
static char *my_find(const char *s, char c, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (s[i] == c) return (char *)s + i;
  return 0;
}
static char *my_find_in_text(const char *s, char c) {
  for (;; s++) {
    char u = *s;
    if (u == c) return (char *)s;
    if (!u) return 0;
  }
}
static int my_compare_blocks(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i < n; i++) {
    char u = a[i], v = b[i];
    if (u != v) return u - v;
  }
  return 0;
}
#define AT(pointer) (p = (pointer), r = p ? p - x : 99)
#define NO (void)0

/* Name; what it is called for; a loop instead, or NO. */
#define MODES(X) \
  X(strcpy, strcpy(y, x), my_copy(y, x, my_length(x, -1) + 1)) \
  X(stpcpy, r = stpcpy(y, x) - y, NO) \
  X(strncpy, strncpy(y, x, 6), size_t n = my_length(x, 6); my_copy(y, x, n); memset(y + n, 0, 6 - n)) \
  X(stpncpy, r = stpncpy(y, x, 6) - y, NO) \
  X(strcat, strcat(y, x), char *e = y + my_length(y, -1); size_t n = my_length(x, -1); my_copy(e, x, n); e[n] = 0) \
  X(strncat, strncat(y, x, 2), NO) \
  X(mempcpy, r = (char *)mempcpy(y, x, 5) - y, my_copy(y, x, 5); r = 5) \
  X(memccpy, r = memccpy(y, x, 'c', 5) != 0, NO) \
  X(strdup, p = strdup(x); strcpy(y, p), NO) \
  X(strndup, p = strndup(x, 2); strcpy(y, p), NO) \
  X(bzero, bzero(x, 6), NO) \
  X(strlen, r = strlen(x), r = my_length(x, -1)) \
  X(strnlen, r = strnlen(x, 3), r = my_length(x, 3)) \
  X(strcmp, r = strcmp(x, "abcd") > 0, r = my_compare(x, "abcd", -1) > 0) \
  X(strncmp, r = strncmp(x, word, 3) > 0, r = my_compare(x, word, 3) > 0) \
  X(strcasecmp, r = strcasecmp(x, "ABCD") > 0, NO) \
  X(strncasecmp, r = strncasecmp(x, "ABCD", 4) > 0, NO) \
  X(memcmp, r = memcmp(x, "abcd", 5) > 0, r = my_compare_blocks(x, "abcd", 5) > 0) \
  X(memchr, AT(memchr(x, 'c', 5)), AT(my_find(x, 'c', 5))) \
  X(memrchr, AT(memrchr(x, 'c', 5)), NO) \
  X(rawmemchr, AT(rawmemchr(x, 0)), AT(my_find(x, 0, -1))) \
  X(strchr, AT(strchr(x, 'd')), AT(my_find_in_text(x, 'd'))) \
  X(strchrnul, AT(strchrnul(x, 'd')), NO) \
  X(strrchr, AT(strrchr(x, 'd')), NO) \
  X(strstr, AT(strstr(x, "cd")), NO) \
  X(strcasestr, AT(strcasestr(x, "CD")), NO) \
  X(strspn, r = strspn(x, "ab"), NO) \
  X(strcspn, r = strcspn(x, "d"), NO) \
  X(strpbrk, AT(strpbrk(x, "d")), NO) \
  X(atoi, r = atoi(x), NO) \
  X(strtol, r = strtol(x, &p, 16); r += 10 * (p - x), NO) \
  X(memmem, AT(memmem(x, 5, "cd", 2)), NO)

#define DECLARE(name, call, loop) \
  static void call_##name(void) { call; } \
  static void loop_##name(void) { loop; }
MODES(DECLARE)

static const struct {
  const char *name, *loop_text;
  void (*call)(void), (*loop)(void);
} modes[] = {
#define MODE(name, call, loop) {#name, #loop, call_##name, loop_##name},
    MODES(MODE)};

static int other;

static void *thread(void *none) {
  switch (other) {
  case 0: x[1] = 'd'; x[3] = 'D'; break;
  case 1: strcpy(x, word); break;
  default: x[3] = 'c'; x[4] = 0; x[2] = 0;
  }
  return none;
}

int main(int count, char **words) {
  size_t n = sizeof modes / sizeof *modes;
  if (count < 3) {
    for (size_t i = 0; i < n; i++) printf("%s %d\n", modes[i].name, strcmp(modes[i].loop_text, "NO") != 0);
    return 0;
  }
  other = atoi(words[2]);
  size_t i = 0;
  while (i < n && strcmp(words[1], modes[i].name)) i++;
  if (i == n) return 1;
  pthread_t second;
  pthread_create(&second, 0, thread, 0);
  (count > 3 ? modes[i].loop : modes[i].call)();
  pthread_join(second, 0);
  unsigned sum = r;
  for (int k = 0; k < 12; k++) sum = sum * 31 + x[k] + 7 * y[k];
  return 100 + sum % 20;
}
