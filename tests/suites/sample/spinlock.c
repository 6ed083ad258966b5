/* Two threads take a lock by compare-exchange in a loop. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

static atomic_int word;
static int inside;

static void lock(void) {
#ifndef NO_LOCK
  int free = 0;
  while (!atomic_compare_exchange_strong(&word, &free, 1)) free = 0;
#endif
}

static void unlock(void) { atomic_store(&word, 0); }

static void *work(void *unused) {
  lock();
  inside++;
  assert(inside == 1);
  inside--;
  unlock();
  return unused;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, 0);
  return 0;
}
