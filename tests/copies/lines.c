/* What one access or call finds while another thread writes there: `lines OFFSET RESULT` writes 8 bytes at
 * this offset into two lines of the cache, or into one, and reads them; `lines twice RESULT` prints one text
 * twice while it is changed. The exit code is 1 if that comes to this result. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Alignas(64) char bytes[128];
static char text[8] = "1", printed[16];
static const char *what, *wanted;

static void *writer(void *unused) {
  if (!strcmp(what, "twice"))
    text[0] = '2';
  else
    *(volatile unsigned long *)(bytes + atoi(what)) = 0x1112131415161718;
  return unused;
}

static void *reader(void *unused) {
  if (!strcmp(what, "twice"))
    snprintf(printed, sizeof printed, "%s%s", text, text);
  else if (*(volatile unsigned long *)(bytes + atoi(what)) == strtoul(wanted, NULL, 16))
    exit(1);
  return unused;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  what = argv[1];
  wanted = argv[2];
  pthread_create(&threads[0], NULL, writer, NULL);
  pthread_create(&threads[1], NULL, reader, NULL);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  return !strcmp(what, "twice") && !strcmp(printed, wanted);
}
