/* `moments MODE`: a thread that may be cancelled at any moment counts, and then may be no more ("type",
 * "state"), or ends ("end"). The exit status says how far it came. */
#include <pthread.h>
#include <string.h>

static volatile int steps;
static const char *mode;

static void *counts(void *unused) {
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &(int){0});
  steps = 1;
  steps = 2;
  if (!strcmp(mode, "type")) pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &(int){0});
  if (!strcmp(mode, "state")) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &(int){0});
  if (strcmp(mode, "end")) steps = 3;
  return unused;
}

int main(int argc, char **argv) {
  if (argc < 2) return 99;
  mode = argv[1];
  pthread_t thread;
  void *result;
  pthread_create(&thread, 0, counts, 0);
  pthread_cancel(thread);
  pthread_join(thread, &result);
  return 2 * steps + (result == PTHREAD_CANCELED);
}
