/* A message and a flag. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int message, flag;

static void *sends(void *unused) {
#ifdef EARLY
  atomic_store(&flag, 1);
  atomic_store(&message, 1);
#else
  atomic_store(&message, 1);
  atomic_store(&flag, 1);
#endif
  return unused;
}

static void *receives(void *unused) {
  int told = atomic_load(&flag);
  int read = atomic_load(&message);
  assert(!told || read);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, sends, 0);
  pthread_create(&threads[1], 0, receives, 0);
  return 0;
}
