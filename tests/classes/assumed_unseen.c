/* What waits for a thread that an assumption stopped waits in a loop that no hook tells of. */
#include <pthread.h>

__attribute__((weak)) void __VERIFIER_assume(int);
static volatile int late, gone;

static void *assumes(void *unused) {
  __VERIFIER_assume(late);
  gone = 1;
  return unused;
}

static void *waits(void *unused) {
  while (!gone) continue;
  return unused;
}

int main(void) {
  pthread_t threads[2];
  pthread_create(&threads[0], 0, assumes, 0);
  pthread_create(&threads[1], 0, waits, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
