/* `moved HOW BAD`: two threads change the first number of a block, to 11 or 12 in the end, and main moves it
 * elsewhere; there it must not be BAD. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static char *block;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adds(void *unused) {
  pthread_mutex_lock(&lock);
  block[0] += 1;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static void *doubles(void *unused) {
  pthread_mutex_lock(&lock);
  block[0] *= 2;
  pthread_mutex_unlock(&lock);
  return NULL;
}

static char *moved(int how) {
  char *other;
  switch (how) {
  case 0: return realloc(block, 5000);
  case 1: return realloc(block, 8);
  case 2: return reallocarray(block, 500, 10);
  case 3: return realloc(realloc(block, 5000), 100000);
  case 4: return memcpy(malloc(5000), block, 16);
  case 5: return memmove(block + 1, block, 12);
  case 6: other = realloc(block, 5000); free(realloc(NULL, 16)); return other;
  default: return mremap(block, 4096, 4096, MREMAP_MAYMOVE | MREMAP_FIXED, block + 4096);
  }
}

int main(int argc, char **argv) {
  pthread_t one, other;
  int how = atoi(argv[1]), bad = atoi(argv[2]);
  block = how == 7 ? mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : malloc(16);
  memset(block, 0, 16);
  block[0] = 5;
  pthread_create(&one, NULL, adds, NULL);
  pthread_create(&other, NULL, doubles, NULL);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  block = moved(how);
  assert(block[0] != bad);
}
