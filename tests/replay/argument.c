/* Prints its argument, word by word as it lies in memory, while another thread writes what is asserted. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static int written;

static void *writes(void *unused) {
  written = 1;
  return unused;
}

int main(int argc, char **argv) {
  pthread_t thread;
  pthread_create(&thread, 0, writes, 0);
  printf("%s\n", argv[argc - 1]);
  assert(!written);
  pthread_join(thread, 0);
  return 0;
}
