/* One thread goes on only if it comes late; the others do as much as they are told, and cannot tell when
 * it gives up. What fails before it looks at its assumption fails all the same (without -DFIXED). */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

void __VERIFIER_assume(int);
static int rounds;
static volatile int late, begun, own;

static void *assumes(void *unused) {
  begun = 1;
  __VERIFIER_assume(late);
  return unused;
}

static void *works(void *unused) {
  for (int i = 0; i < rounds; i++) own++;
  late = 1;
#ifndef FIXED
  assert(!begun);
#endif
  return unused;
}

int main(int argc, char **arguments) {
  rounds = argc > 1 ? atoi(arguments[1]) : 1;
  pthread_t threads[2];
  pthread_create(&threads[0], 0, assumes, 0);
  pthread_create(&threads[1], 0, works, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
}
