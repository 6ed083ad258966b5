/* `attempts MODE MS`: main waits for what another thread does, for MS milliseconds: with 0 the time is over
 * before the wait begins. It ends with 1 where that did not come in time. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <mqueue.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t sem, held;
static atomic_int word;
static int done, ends[2];
static mqd_t queue;
static pthread_t main_thread, other;
static struct timespec until, span;

static void nothing(void) {}
static int join(void) { return pthread_timedjoin_np(other, 0, &until) == 0 ? (other = 0, 1) : 0; }

static void post(void) { sem_post(&sem); }
static int wait_sem(void) { return sem_timedwait(&sem, &until) == 0; }

static void lock(void) { pthread_mutex_lock(&mutex); sem_post(&held); pthread_mutex_unlock(&mutex); }
static int wait_lock(void) { sem_wait(&held); return pthread_mutex_timedlock(&mutex, &until) == 0; }

static void signals(void) { pthread_mutex_lock(&mutex); done = 1; pthread_cond_signal(&cond); pthread_mutex_unlock(&mutex); }
static int wait_cond(void) {
  pthread_mutex_lock(&mutex);
  while (!done && pthread_cond_timedwait(&cond, &mutex, &until) == 0) {}
  pthread_mutex_unlock(&mutex);
  return done;
}

static void write_lock(void) { pthread_rwlock_wrlock(&rwlock); sem_post(&held); pthread_rwlock_unlock(&rwlock); }
static int wait_read(void) { sem_wait(&held); return pthread_rwlock_timedrdlock(&rwlock, &until) == 0; }
static int wait_write(void) { sem_wait(&held); return pthread_rwlock_timedwrlock(&rwlock, &until) == 0; }

static void block(void) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); pthread_sigmask(SIG_BLOCK, &set, 0); }
static void kill_main(void) { pthread_kill(main_thread, SIGUSR1); }
static int wait_signal(void) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); return sigtimedwait(&set, 0, &span) == SIGUSR1; }

static void open_queue(void) {
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
  mq_unlink("/raddle-attempts");
  queue = mq_open("/raddle-attempts", O_CREAT | O_RDWR, 0600, &attributes);
  if (queue < 0) abort();
  mq_unlink("/raddle-attempts");
}
static void send(void) { mq_send(queue, "a", 1, 0); }
static int receive(void) { char text[8]; return mq_timedreceive(queue, text, sizeof text, 0, &until) == 1; }

static void wake(void) { atomic_store(&word, 1); syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0); }
static int wait_word(void) { syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &span, 0, 0); return atomic_load(&word); }

static void open_pipe(void) { if (pipe(ends)) abort(); }
static void send_byte(void) { if (write(ends[1], "a", 1) != 1) abort(); }
static int wait_byte(void) { struct pollfd one = {ends[0], POLLIN, 0}; return ppoll(&one, 1, &span, 0) == 1; }

static const struct mode {
  const char *name;
  void (*prepare)(void), (*act)(void);
  int (*wait)(void);
} modes[] = {
  {"join", nothing, nothing, join},
  {"semaphore", nothing, post, wait_sem},
  {"mutex", nothing, lock, wait_lock},
  {"condition", nothing, signals, wait_cond},
  {"reader", nothing, write_lock, wait_read},
  {"writer", nothing, write_lock, wait_write},
  {"signal", block, kill_main, wait_signal},
  {"queue", open_queue, send, receive},
  {"futex", nothing, wake, wait_word},
  {"poll", open_pipe, send_byte, wait_byte},
};

static void *run(void *mode) {
  ((struct mode *)mode)->act();
  return 0;
}

int main(int argc, char **argv) {
  const int count = sizeof modes / sizeof *modes;
  const struct mode *mode = modes;
  if (argc < 3) {
    for (int i = 0; i < count; i++) write(1, modes[i].name, strlen(modes[i].name)), write(1, "\n", 1);
    return 0;
  }
  while (mode < modes + count && strcmp(mode->name, argv[1])) mode++;
  if (mode == modes + count) return 2;
  long ms = atol(argv[2]);
  span.tv_nsec = ms * 1000000;
  mode->prepare();
  main_thread = pthread_self();
  pthread_create(&other, 0, run, (void *)mode);
  if (ms) {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += ms * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
  }
  int came = mode->wait();
  if (other) pthread_join(other, 0);
  return !came;
}
