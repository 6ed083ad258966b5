/* `moved CALL`: the byte that a reader waits for comes by a call that has no model. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static int in[2], out[2], polls;

static void *reader(void *unused) {
  char byte;
  struct pollfd wanted = {out[0], POLLIN, 0};
  if (polls && poll(&wanted, 1, -1) != 1) _exit(3);
  if (read(out[0], &byte, 1) != 1) _exit(3);
  return unused;
}

int main(int count, char **arguments) {
  const char *call = count > 1 ? arguments[1] : "";
  polls = count > 2;
  struct iovec part = {"x", 1};
  if (pipe(in) || pipe(out) || write(in[1], "y", 1) != 1) return 2;
  pthread_t thread;
  pthread_create(&thread, 0, reader, 0);
  long moved = -1;
  if (!strcmp(call, "vmsplice")) moved = vmsplice(out[1], &part, 1, 0);
  if (!strcmp(call, "SYS_vmsplice")) moved = syscall(SYS_vmsplice, out[1], &part, 1, 0);
  if (!strcmp(call, "SYS_splice")) moved = syscall(SYS_splice, in[0], 0, out[1], 0, 1, 0);
  if (!strcmp(call, "SYS_tee")) moved = syscall(SYS_tee, in[0], out[1], 1, 0);
  if (moved != 1) return 2;
  pthread_join(thread, 0);
  return 0;
}
