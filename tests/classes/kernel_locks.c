/* Two threads count under a lock that the kernel keeps: a semaphore of a set (s), an open file description's
 * (o), a whole file's (f). What is counted belongs to each by itself (without a lock: n). */
#define _GNU_SOURCE
#include <assert.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sem.h>

static int set, files[2], count, own[2];
static char which;

static void change(int by) {
  struct sembuf operation = {0, by, 0};
  assert(!semop(set, &operation, 1));
}

static void record(int file, short type) {
  struct flock lock = {.l_type = type};
  assert(!fcntl(file, F_OFD_SETLKW, &lock));
}

static void *counts(void *number) {
  long me = (long)number;
  if (which == 's') change(-1);
  if (which == 'o') record(files[me], F_WRLCK);
  if (which == 'f') flock(files[me], LOCK_EX);
  if (which == 'n') own[me]++;
  else count++;
  if (which == 's') change(1);
  if (which == 'o') record(files[me], F_UNLCK);
  if (which == 'f') flock(files[me], LOCK_UN);
  return 0;
}

int main(int argc, char **arguments) {
  which = argc > 1 ? arguments[1][0] : 's';
  set = semget(IPC_PRIVATE, 1, 0600);
  semctl(set, 0, SETVAL, 1);
  int file = memfd_create("locked", 0);
  char path[32];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) files[i] = open(path, O_RDWR);
  for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, counts, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  assert(which == 'n' || count == 2);
  semctl(set, 0, IPC_RMID);
}
