/* `tokens MODE FILE`: threads that go on, by strtok, in one text or begin another one, and appends to FILE
 * what they got: in MODE 0 two go on; 1: the second begins another text; and 2: a third one looks at the
 * end of the first token. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[] = "a b c d", another[] = "x y z", got[2] = "..", end = '.';
static int mode;

static char first(const char *token) { return token ? *token : '-'; }

static void *goes_on(void *unused) {
  got[0] = first(strtok(0, " "));
  return unused;
}

static void *begins(void *unused) {
  got[1] = first(strtok(mode & 1 ? another : 0, " "));
  return unused;
}

static void *looks(void *unused) {
  end = text[3] ? text[3] : '0';
  return unused;
}

int main(int count, char **arguments) {
  if (count != 3) return 2;
  mode = atoi(arguments[1]);
  strtok(text, " ");
  void *(*const work[])(void *) = {goes_on, begins, looks};
  int threads = mode & 2 ? 3 : 2;
  pthread_t thread[3];
  for (int i = 0; i < threads; i++) pthread_create(&thread[i], 0, work[i], 0);
  for (int i = 0; i < threads; i++) pthread_join(thread[i], 0);
  char *rest = strtok(0, " "), *last = strtok(0, " ");
  FILE *out = fopen(arguments[2], "a");
  fprintf(out, "%.2s%c%s%s\n", got, end, rest ? rest : "-", last ? last : "-");
  fclose(out);
  return 0;
}
