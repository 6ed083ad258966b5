/* `elsewhere MODE OUTCOME`: what one thread finds depends on whether another one has come before; OUTCOME (0: it
 * has not, 1: it has) fails. Without a mode: the names of all. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int _ZNSt8ios_base6xallocEv(void);            /* std::ios_base::xalloc() */
_Bool _ZNSt8ios_base15sync_with_stdioEb(_Bool); /* std::ios_base::sync_with_stdio(bool) */

static int outcome, fd, numbers[4] = {4, 3, 2, 1};
static char proc[64], thread_self[64], dev[64], link_[64];
static struct stat about;

static int order(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int reaches_null(void) {
  ssize_t n = readlink(link_, link_, sizeof link_);
  return n == 9 && !memcmp(link_, "/dev/null", 9);
}

static void opens(void) { open("/", O_RDONLY); }

#define MODES(X)                                                                                    \
  X(access, opens(), access(proc, F_OK) == 0)                                                       \
  X(stat, opens(), stat(proc, &about) == 0)                                                         \
  X(lstat, opens(), lstat(thread_self, &about) == 0)                                                \
  X(dev, opens(), access(dev, F_OK) == 0)                                                           \
  X(readlink, dup2(open("/dev/null", O_RDONLY), fd), reaches_null())                                \
  X(lseek, write(1, "a", 1), lseek(1, 0, SEEK_CUR) == 1)                                            \
  X(ftell, putchar('a'), ftell(stdout) == 1)                                                        \
  X(semaphore, sem_open("/raddle-elsewhere", O_CREAT, 0600, 1),                                     \
    access("/dev/shm/sem.raddle-elsewhere", F_OK) == 0)                                             \
  X(sort, qsort(numbers, 4, sizeof *numbers, order), numbers[1] == 4)                               \
  X(xalloc, _ZNSt8ios_base6xallocEv(), _ZNSt8ios_base6xallocEv() == 5)                              \
  X(sync, _ZNSt8ios_base15sync_with_stdioEb(0), !_ZNSt8ios_base15sync_with_stdioEb(1))

enum { NONE
#define NUMBER(name, does, finds) , M_##name
  MODES(NUMBER)
};

static int mode;

static void *first(void *unused) {
#define DOES(name, does, finds) if (mode == M_##name) (void)(does);
  MODES(DOES)
  return unused;
}

static void *second(void *unused) {
#define FINDS(name, does, finds) if (mode == M_##name) outcome = finds;
  MODES(FINDS)
  return unused;
}

int main(int argc, char **argv) {
#define NAME(name, does, finds)                                                                     \
  if (argc < 3) puts(#name);                                                                        \
  else if (!strcmp(argv[1], #name)) mode = M_##name;
  MODES(NAME)
  if (argc < 3) return 0;
  fd = open("/", O_RDONLY);
  int next = fd + 1;
  sprintf(proc, "/proc/self/fd/%d", next);
  sprintf(thread_self, "/proc/thread-self/fd/%d", next);
  sprintf(dev, "/dev/fd/%d", next);
  sprintf(link_, "/proc/self/fd/%d", fd);
  pthread_t threads[2];
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  if (outcome == atoi(argv[2])) abort();
  return 0;
}
