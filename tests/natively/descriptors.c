// Every execution finds its inherited descriptors as the first one did: 0 and 5. Then it changes them.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

static void *change(void *descriptor) {
  int d = (int)(long)descriptor;
  char byte;
  int flags = fcntl(d, F_GETFL);
  if (flags & (O_NONBLOCK | O_APPEND)) _exit(20 + d);
  if (lseek(d, 0, SEEK_CUR) > 0) _exit(30 + d);
  fcntl(d, F_SETFL, flags | O_NONBLOCK | O_APPEND);
  sched_yield();
  if (read(d, &byte, 1) == 1 && byte != 'a') _exit(40 + d);
  lseek(d, 3, SEEK_SET);
  return 0;
}

int main(int count, char **arguments) {
  pthread_t a, b;
  (void)arguments;
  pthread_create(&a, 0, change, (void *)0L);
  if (count > 1) pthread_create(&b, 0, change, (void *)5L);
  pthread_join(a, 0);
  if (count > 1) pthread_join(b, 0);
  return 0;
}
