/* `left FILE MODE`: what an execution finds depends on what others have left in FILE, or does not (`log` and
 * those after it). Nothing fails. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *path, *mode;
static volatile int found, seen;

static int is(const char *name) { return strcmp(mode, name) == 0; }

static void *other(void *unused) {
  if (found == 1) seen = 1;
  return unused;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  path = argv[1], mode = argv[2];
  if (is("created")) found = open(path, O_CREAT | O_EXCL | O_RDWR, 0600) < 0;
  if (is("directory")) found = mkdir(path, 0700) < 0;
  if (is("counter")) {
    FILE *file = fopen(path, "a+");
    rewind(file);
    if (fscanf(file, "%d", (int *)&found) != 1) found = 0;
    fclose(file);
    file = fopen(path, "w");
    fprintf(file, "%d", found + 1);
    fclose(file);
  }
  if (is("asked")) {
    found = access(path, F_OK) == 0;
    close(open(path, O_CREAT | O_RDWR, 0600));
  }
  if (is("log")) {
    FILE *log = fopen(path, "a");
    fputs("one more\n", log);
    fclose(log);
  }
  if (is("emptied")) {
    int file = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    char byte = 0;
    found = pwrite(file, "x", 1, 0) + pread(file, &byte, 1, 0) + byte;
    close(file);
  }
  if (is("removed")) {
    found = open(path, O_CREAT | O_EXCL | O_RDWR, 0600) < 0;
    unlink(path);
  }
  pthread_t thread;
  pthread_create(&thread, 0, other, 0);
  found++;
  pthread_join(thread, 0);
  return 0;
}
