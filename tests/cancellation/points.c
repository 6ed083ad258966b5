/* A call of one cancellation point, which need not wait, in a thread that is cancelled: by itself before the
 * call ("self"), or by main at any moment; with cancellation deferred, disabled or asynchronous. The exit
 * status is 1 if the thread was cancelled and 2 if it returned. Arguments: the function, "self" or "main",
 * and one of "deferred", "disabled", "asynchronous". */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char bytes[8];
static struct iovec part = {bytes, 1};
static struct msghdr message;
static struct mmsghdr messages[1];
static struct epoll_event event;
static struct pollfd polled;
static struct timespec now;
static struct timeval none;
static int status;

/* What these do to memory is not followed. */
#ifdef UNSEEN
#define POINTS \
  P(epoll_pwait2, epoll_pwait2(-1, &event, 1, &now, 0)) \
  P(recvmmsg, recvmmsg(-1, messages, 1, 0, 0)) \
  P(sendmmsg, sendmmsg(-1, messages, 1, 0))
#else
/* Most of them fail at once: that comes after a request to cancel. */
#define POINTS \
  P(accept, accept(-1, 0, 0)) \
  P(accept4, accept4(-1, 0, 0, 0)) \
  P(close, close(-1)) \
  P(connect, connect(-1, 0, 0)) \
  P(copy_file_range, copy_file_range(-1, 0, -1, 0, 0, 0)) \
  P(creat, creat("/dev/null", 0600)) \
  P(creat64, creat64("/dev/null", 0600)) \
  P(epoll_pwait, epoll_pwait(-1, &event, 1, 0, 0)) \
  P(epoll_wait, epoll_wait(-1, &event, 1, 0)) \
  P(fallocate, fallocate(-1, 0, 0, 1)) \
  P(fallocate64, fallocate64(-1, 0, 0, 1)) \
  P(fdatasync, fdatasync(-1)) \
  P(fsync, fsync(-1)) \
  P(getrandom, getrandom(bytes, 1, 0)) \
  P(mq_receive, mq_receive(-1, bytes, 8, 0)) \
  P(mq_send, mq_send(-1, bytes, 1, 0)) \
  P(mq_timedreceive, mq_timedreceive(-1, bytes, 8, 0, &now)) \
  P(mq_timedsend, mq_timedsend(-1, bytes, 1, 0, &now)) \
  P(msgrcv, msgrcv(-1, bytes, 0, 0, IPC_NOWAIT)) \
  P(msgsnd, msgsnd(-1, bytes, 0, IPC_NOWAIT)) \
  P(msync, msync(0, 0, MS_SYNC)) \
  P(open, open("/dev/null", O_RDONLY)) \
  P(open64, open64("/dev/null", O_RDONLY)) \
  P(open_by_handle_at, open_by_handle_at(-1, 0, 0)) \
  P(openat, openat(AT_FDCWD, "/dev/null", O_RDONLY)) \
  P(openat64, openat64(AT_FDCWD, "/dev/null", O_RDONLY)) \
  P(poll, poll(&polled, 0, 0)) \
  P(ppoll, ppoll(&polled, 0, &now, 0)) \
  P(pread, pread(-1, bytes, 1, 0)) \
  P(pread64, pread64(-1, bytes, 1, 0)) \
  P(preadv, preadv(-1, &part, 1, 0)) \
  P(preadv64, preadv64(-1, &part, 1, 0)) \
  P(preadv2, preadv2(-1, &part, 1, 0, 0)) \
  P(preadv64v2, preadv64v2(-1, &part, 1, 0, 0)) \
  P(pselect, pselect(0, 0, 0, 0, &now, 0)) \
  P(pwrite, pwrite(-1, bytes, 1, 0)) \
  P(pwrite64, pwrite64(-1, bytes, 1, 0)) \
  P(pwritev, pwritev(-1, &part, 1, 0)) \
  P(pwritev64, pwritev64(-1, &part, 1, 0)) \
  P(pwritev2, pwritev2(-1, &part, 1, 0, 0)) \
  P(pwritev64v2, pwritev64v2(-1, &part, 1, 0, 0)) \
  P(read, read(-1, bytes, 1)) \
  P(readv, readv(-1, &part, 1)) \
  P(recv, recv(-1, bytes, 1, 0)) \
  P(recvfrom, recvfrom(-1, bytes, 1, 0, 0, 0)) \
  P(recvmsg, recvmsg(-1, &message, 0)) \
  P(select, select(0, 0, 0, 0, &none)) \
  P(send, send(-1, bytes, 1, 0)) \
  P(sendmsg, sendmsg(-1, &message, 0)) \
  P(sendto, sendto(-1, bytes, 1, 0, 0, 0)) \
  P(splice, splice(-1, 0, -1, 0, 1, 0)) \
  P(sync_file_range, sync_file_range(-1, 0, 0, 0)) \
  P(tcdrain, tcdrain(-1)) \
  P(tee, tee(-1, -1, 1, 0)) \
  P(vmsplice, vmsplice(-1, &part, 1, 0)) \
  P(wait, wait(&status)) \
  P(wait3, wait3(&status, 0, 0)) \
  P(wait4, wait4(-1, &status, 0, 0)) \
  P(waitid, waitid(P_ALL, 0, 0, WEXITED)) \
  P(waitpid, waitpid(-1, &status, 0)) \
  P(write, write(-1, bytes, 1)) \
  P(writev, writev(-1, &part, 1))
#endif

#define P(name, expression) static void call_##name(void) { (void)!(long)(expression); }
POINTS
#undef P

static const struct { const char *name; void (*call)(void); } points[] = {
#define P(name, expression) {#name, call_##name},
  POINTS
#undef P
};

static void (*call)(void);
static int cancels_itself;

static void *target(void *how) {
  if (!strcmp(how, "disabled")) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
  if (!strcmp(how, "asynchronous")) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
  if (cancels_itself) pthread_cancel(pthread_self());
  call();
  return 0;
}

int main(int count, char **arguments) {
  pthread_t thread;
  void *value;
  if (count != 4) return 99;
  for (unsigned i = 0; i < sizeof points / sizeof *points; i++)
    if (!strcmp(points[i].name, arguments[1])) call = points[i].call;
  if (!call) return 98;
  cancels_itself = !strcmp(arguments[2], "self");
  pthread_create(&thread, 0, target, arguments[3]);
  if (!cancels_itself) pthread_cancel(thread);
  pthread_join(thread, &value);
  return value == PTHREAD_CANCELED ? 1 : 2;
}
