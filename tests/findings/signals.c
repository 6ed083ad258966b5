/* A thread ends the process by the signal that main is told, whether or not it was ignored at the start. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

static int number;

static void *raises(void *unused) {
  if (number == SIGABRT) abort();
  if (number == SIGSEGV) *(volatile int *)0 = 0;
  raise(number);
  return unused;
}

int main(int argc, char **arguments) {
  number = argc > 1 ? atoi(arguments[1]) : 0;
  signal(number, SIG_DFL);
  pthread_t thread;
  pthread_create(&thread, 0, raises, 0);
  pthread_join(thread, 0);
}
