/* Three threads count by atomic updates, or by a load and a store, and the last one looks. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int count, done;

static void *add(void *unused) {
#ifdef TORN
  int read = atomic_load(&count);
  atomic_store(&count, read + 1);
#else
  atomic_fetch_add(&count, 1);
#endif
#ifdef TORN
  if (atomic_fetch_add(&done, 1) == 2) assert(count == 3);
#endif
  return unused;
}

int main(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) pthread_create(&threads[i], 0, add, 0);
  return 0;
}
