/* Only executions in which the reader comes late matter. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

void __VERIFIER_assume(int);
static atomic_int flag;

static void *writes(void *unused) {
  atomic_store(&flag, 1);
  return unused;
}

static void *reads(void *unused) {
  __VERIFIER_assume(atomic_load(&flag));
  assert(atomic_load(&flag) == 1);
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, writes, 0);
  pthread_create(&threads[1], 0, reads, 0);
  return 0;
}
