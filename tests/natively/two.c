// Two threads that do nothing, or ask for the time.
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static void *ask(void *argument) {
  struct timespec now;
  if (argument) clock_gettime(CLOCK_MONOTONIC, &now);
  return 0;
}

int main(int count, char **arguments) {
  pthread_t a, b;
  void *asks = count > 1 ? arguments[1] : 0;
  pthread_create(&a, 0, ask, asks);
  pthread_create(&b, 0, ask, asks);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return 0;
}
