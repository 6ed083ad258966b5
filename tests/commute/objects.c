/* Operations on one object, by main and by one or two other threads. `objects LOG PICK PICK ...` takes one
 * of the picks by a choice that an exhaustive search makes in every way, and adds two lines to LOG: the
 * number of the pick before the other threads begin, that and the outcome (all results, and what main
 * finds of the object) when they have ended. A pick is KIND/SETUP/A/B or KIND/SETUP/A/B/C: what main does,
 * and what the others do. `objects - PICK` returns a number made of the outcome instead.
 * `objects` alone says which kinds there are, how many setups each has, and its operations. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t mutex;
static pthread_rwlock_t rwlock;
static pthread_spinlock_t spin;
static pthread_cond_t cond;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static pthread_t first, victim;
static sem_t sem, gate;
static int fds[2], ran, number;
static atomic_int word, count;
static struct timespec deadline;

static int coded(long result) { return result == -1 ? -errno : (int)result; }

static void set_mutex(int type, int robust, int held) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, type);
  if (robust) pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &attributes);
  if (held) pthread_mutex_lock(&mutex);
}
static void set_rwlock(int kind, int held) {
  pthread_rwlockattr_t attributes;
  pthread_rwlockattr_init(&attributes);
  pthread_rwlockattr_setkind_np(&attributes, kind);
  pthread_rwlock_init(&rwlock, &attributes);
  if (held == 1) pthread_rwlock_rdlock(&rwlock);
  if (held == 2) pthread_rwlock_wrlock(&rwlock);
}
static int briefly(int taken) { if (taken == 0 || taken == EOWNERDEAD) pthread_mutex_unlock(&mutex); return taken; }
static int briefly_rw(int taken) { if (taken == 0) pthread_rwlock_unlock(&rwlock); return taken; }
static int briefly_spin(int taken) { if (taken == 0) pthread_spin_unlock(&spin); return taken; }
static int repaired(int taken) { if (taken == EOWNERDEAD) pthread_mutex_consistent(&mutex); return briefly(taken); }
static int look_mutex(void) {
  int taken = pthread_mutex_trylock(&mutex), held = 0;
  if (taken == 0) while (held < 4 && pthread_mutex_unlock(&mutex) == 0) held++;
  return 10 * taken + held;
}
static int look_plain(void) { return pthread_mutex_trylock(&mutex); }
static int look_rwlock(void) { return 1000 * pthread_rwlock_trywrlock(&rwlock) + pthread_rwlock_tryrdlock(&rwlock); }
static int value(void) { int v; return sem_getvalue(&sem, &v) ? -errno : v; }
static int timed_wait(void) {
  pthread_mutex_lock(&mutex);
  int result = pthread_cond_timedwait(&cond, &mutex, &deadline);
  pthread_mutex_unlock(&mutex);
  return result;
}
static int wait_for(void) {
  pthread_mutex_lock(&mutex);
  while (!ran) pthread_cond_wait(&cond, &mutex);
  pthread_mutex_unlock(&mutex);
  return 0;
}
static int tell(int all) {
  pthread_mutex_lock(&mutex);
  ran = 1;
  int result = all ? pthread_cond_broadcast(&cond) : pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
  return result;
}
static void one(void) { ran = 10 * ran + 1; }
static void two(void) { ran = 10 * ran + 2; }
static void count_one(void *unused) { (void)unused; count++; }
static void handle(int signal) { (void)signal; count++; }
static void *ends(void *unused) { return unused; }
static void *waits(void *unused) { while (sem_wait(&gate) == -1); return unused; }
static void set_victim(void *(*body)(void *)) { pthread_create(&victim, 0, body, 0); }
static void set_pipe(int filled) {
  pipe2(fds, O_NONBLOCK);
  signal(SIGPIPE, SIG_IGN);
  fcntl(fds[1], F_SETPIPE_SZ, 4096);
  static char block[4096];
  if (filled) write(fds[1], block, filled);
}
static int get(int size) { char block[8]; return coded(read(fds[0], block, size)); }
static int put(int size) { return coded(write(fds[1], "abcdefgh", size)); }
static int ready(int which, int events) { struct pollfd p = {fds[which], events, 0}; int n = poll(&p, 1, 0); return 1000 * n + p.revents; }
static int unread(void) { int n = 0; return ioctl(fds[0], FIONREAD, &n) ? -errno : n; }
static int drained(void) { static char block[8192]; return coded(read(fds[0], block, sizeof block)); }
static int add(uint64_t n) { return coded(write(fds[0], &n, 8)); }
static int taken(void) { uint64_t n = 0; return read(fds[0], &n, 8) == -1 ? -errno : (int)(n & 0xffff); }
static int look_eventfd(void) { return taken() + 10 * taken(); }
static int exchange(int expected, int wanted) { int found = expected; int is = atomic_compare_exchange_strong(&word, &found, wanted); return 10 * found + is; }
static int exchange_weak(int expected, int wanted) { int found = expected; int is = atomic_compare_exchange_weak(&word, &found, wanted); return 10 * found + is; }
static int futex(int operation, int value) { static const struct timespec brief = {0, 1000}; return coded(syscall(SYS_futex, &word, operation, value, operation == FUTEX_WAIT_PRIVATE ? &brief : 0, 0, 0)); }
static void set_set(int first, int second) {
  number = semget(IPC_PRIVATE, 2, 0600);
  semctl(number, 0, SETVAL, first);
  semctl(number, 1, SETVAL, second);
}
static int counted(int which, int by, int flags) { struct sembuf one = {which, by, flags}; return coded(semop(number, &one, 1)); }
static int exchanged(int from, int to, int flags) { struct sembuf both[] = {{from, -1, flags}, {to, 1, flags}}; return coded(semop(number, both, 2)); }
static int timed_set(void) { static const struct timespec brief = {0, 1000}; struct sembuf one = {0, -1, 0}; return coded(semtimedop(number, &one, 1, &brief)); }
static int look_set(void) { int left = 10 * semctl(number, 0, GETVAL) + semctl(number, 1, GETVAL); semctl(number, 0, IPC_RMID); return left; }
struct letter { long type; char text[4]; };
static int posted(long type) { struct letter one = {type, "abc"}; return coded(msgsnd(number, &one, 4, IPC_NOWAIT)); }
static int fetched(long type, int flags) { struct letter one = {0}; int got = coded(msgrcv(number, &one, 4, type, flags)); return got < 0 ? got : (int)one.type; }
static int look_messages(void) { int left = 100 * fetched(0, IPC_NOWAIT) + 10 * fetched(0, IPC_NOWAIT); msgctl(number, IPC_RMID, 0); return left; }
static void set_queue(int filled) {
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 4};
  fds[0] = mq_open("/objects", O_CREAT | O_RDWR, 0600, &attributes);
  fds[1] = mq_open("/objects", O_RDWR | O_NONBLOCK);
  mq_unlink("/objects");
  signal(SIGUSR1, handle);
  for (int i = 0; i < filled; i++) mq_send(fds[1], "a", 1, i);
}
static int received(int fd) { char text[4]; unsigned priority = 0; int got = coded(mq_receive(fd, text, 4, &priority)); return got < 0 ? got : 10 * (int)priority + text[0]; }
static int timed_receive(void) { char text[4]; return coded(mq_timedreceive(fds[0], text, 4, 0, &deadline)); }
static int ask_to_be_told(void) { struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1}; return coded(mq_notify(fds[0], &event)); }
static int look_queue(void) { return 1000 * received(fds[1]) + 100 * received(fds[1]) + count; }
static void set_file(int how) {
  char path[32];
  fds[0] = memfd_create("objects", 0);
  snprintf(path, sizeof path, "/proc/self/fd/%d", fds[0]);
  fds[1] = open(path, O_RDWR);
  if (how) flock(fds[0], how);
}
static int record(int which, int type, int command) { struct flock lock = {.l_type = type}; return coded(fcntl(fds[which], command, &lock)); }
static int then_unlocked(int result, int which) { if (!result) flock(fds[which], LOCK_UN); return result; }
static int look_file(void) { return 10 * coded(flock(fds[0], LOCK_EX | LOCK_NB)) + coded(flock(fds[1], LOCK_EX | LOCK_NB)); }
static int masked(int how) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); return pthread_sigmask(how, &s, 0); }
static int pends(void) { sigset_t s; sigpending(&s); return sigismember(&s, SIGUSR1); }
static int taken_signal(void) { sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); struct timespec none = {0, 0}; return coded(sigtimedwait(&s, 0, &none)); }
static int was(void (*before)(int)) { return before == handle ? 1 : before == SIG_IGN ? 2 : before == SIG_DFL ? 3 : 4; }
static int tried(void) { void *result; return pthread_tryjoin_np(victim, &result); }
static int timed_join(void) { void *result; return pthread_timedjoin_np(victim, &result, &deadline); }

#define MUTEX_OPERATIONS(X) \
  X(briefly(pthread_mutex_lock(&mutex))) X(pthread_mutex_trylock(&mutex)) X(briefly(pthread_mutex_trylock(&mutex))) \
  X(pthread_mutex_timedlock(&mutex, &deadline)) X(briefly(pthread_mutex_timedlock(&mutex, &deadline))) \
  X(pthread_mutex_unlock(&mutex)) X(pthread_mutex_destroy(&mutex)) X(pthread_mutex_lock(&mutex))
#define ROBUST_OPERATIONS(X) MUTEX_OPERATIONS(X) X(repaired(pthread_mutex_trylock(&mutex))) X(repaired(pthread_mutex_lock(&mutex)))
#define RWLOCK_OPERATIONS(X) \
  X(briefly_rw(pthread_rwlock_rdlock(&rwlock))) X(pthread_rwlock_tryrdlock(&rwlock)) X(briefly_rw(pthread_rwlock_tryrdlock(&rwlock))) \
  X(briefly_rw(pthread_rwlock_wrlock(&rwlock))) X(pthread_rwlock_trywrlock(&rwlock)) X(briefly_rw(pthread_rwlock_trywrlock(&rwlock))) \
  X(briefly_rw(pthread_rwlock_timedrdlock(&rwlock, &deadline))) X(briefly_rw(pthread_rwlock_timedwrlock(&rwlock, &deadline))) \
  X(pthread_rwlock_unlock(&rwlock)) X(pthread_rwlock_destroy(&rwlock))
#define SPIN_OPERATIONS(X) \
  X(briefly_spin(pthread_spin_lock(&spin))) X(pthread_spin_trylock(&spin)) X(briefly_spin(pthread_spin_trylock(&spin))) \
  X(pthread_spin_unlock(&spin)) X(pthread_spin_destroy(&spin))
#define SEM_OPERATIONS(X) \
  X(coded(sem_post(&sem))) X(coded(sem_trywait(&sem))) X(coded(sem_timedwait(&sem, &deadline))) X(value()) \
  X(coded(sem_destroy(&sem))) X(coded(sem_wait(&sem))) X(coded(sem_post(&sem)) + 10 * coded(sem_post(&sem)))
#define COND_OPERATIONS(X) \
  X(pthread_cond_signal(&cond)) X(pthread_cond_broadcast(&cond)) X(timed_wait()) X(wait_for()) X(tell(0)) X(tell(1)) \
  X(pthread_cond_destroy(&cond)) X(pthread_mutex_trylock(&mutex)) X(briefly(pthread_mutex_lock(&mutex)))
#define BARRIER_OPERATIONS(X) X(pthread_barrier_wait(&barrier)) X(pthread_barrier_destroy(&barrier)) X(0)
#define ONCE_OPERATIONS(X) X(pthread_once(&once, one)) X(pthread_once(&once, two)) X(pthread_once(&once, one) + 10 * ran)
#define KEY_OPERATIONS(X) \
  X(pthread_setspecific(key, &word)) X(pthread_key_delete(key)) X(pthread_getspecific(key) != 0) \
  X((pthread_setspecific(key, &word), pthread_setspecific(key, 0))) X(pthread_key_create(&key, count_one)) X(atomic_load(&count))
#define THREAD_OPERATIONS(X) \
  X(tried()) X(timed_join()) X(pthread_join(victim, 0)) X(pthread_detach(victim)) X(pthread_cancel(victim)) \
  X(pthread_kill(victim, 0)) X(pthread_kill(victim, SIGUSR1)) X(coded(sem_post(&gate))) X(atomic_load(&count))
#define PIPE_OPERATIONS(X) \
  X(put(1)) X(put(2)) X(get(1)) X(get(2)) X(ready(0, POLLIN)) X(ready(1, POLLOUT)) X(unread()) \
  X(coded(close(fds[0]))) X(coded(close(fds[1])))
#define SOCKET_OPERATIONS(X) \
  PIPE_OPERATIONS(X) X(coded(send(fds[0], "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL))) X(coded(shutdown(fds[1], SHUT_WR)))
#define EVENTFD_OPERATIONS(X) X(add(1)) X(add(2)) X(add(UINT64_MAX - 1)) X(taken()) X(ready(0, POLLIN)) X(ready(0, POLLOUT)) X(coded(close(fds[0])))
#define ATOMIC_OPERATIONS(X) \
  X(atomic_load(&word)) X((atomic_store(&word, 0), 0)) X((atomic_store(&word, 1), 0)) X((atomic_store(&word, 2), 0)) \
  X(atomic_exchange(&word, 0)) X(atomic_exchange(&word, 1)) X(exchange(0, 1)) X(exchange(1, 0)) X(exchange(0, 0)) X(exchange(5, 1)) \
  X(exchange_weak(0, 1)) X(exchange_weak(1, 2)) X(atomic_fetch_add(&word, 0)) X(atomic_fetch_add(&word, 1)) X(atomic_fetch_sub(&word, 1)) \
  X(atomic_fetch_or(&word, 0)) X(atomic_fetch_or(&word, 1)) X(atomic_fetch_and(&word, 1)) X(atomic_fetch_and(&word, 2)) \
  X(atomic_fetch_xor(&word, 1)) X(atomic_fetch_xor(&word, 0)) X(*(volatile int *)&word) X((*(volatile int *)&word = 1, 0)) \
  X((((volatile char *)&word)[1] = 1, 0)) X(((volatile char *)&word)[1]) X(((volatile char *)&word)[0]) \
  X(__atomic_fetch_add((char *)&word, 1, 5)) X(__atomic_nand_fetch((int *)&word, 3, 5)) X(__atomic_exchange_n((short *)&word, 1, 5))
#define FUTEX_OPERATIONS(X) \
  X(futex(FUTEX_WAIT_PRIVATE, 0)) X(futex(FUTEX_WAIT_PRIVATE, 1)) X(futex(FUTEX_WAKE_PRIVATE, 1)) X(futex(FUTEX_WAKE_PRIVATE, INT_MAX)) \
  X((atomic_store(&word, 1), 0)) X((atomic_store(&word, 1), futex(FUTEX_WAKE_PRIVATE, 1))) X(exchange(0, 1)) X(atomic_load(&word))
#define SIGNAL_OPERATIONS(X) \
  X(raise(SIGUSR1)) X(pthread_kill(first, SIGUSR1)) X(coded(kill(getpid(), SIGUSR1))) X(was(signal(SIGUSR1, SIG_IGN))) \
  X(was(signal(SIGUSR1, handle))) X(masked(SIG_BLOCK)) X(masked(SIG_UNBLOCK)) X(pends()) X(taken_signal()) X(atomic_load(&count))
#define SET_OPERATIONS(X) \
  X(counted(0, 1, 0)) X(counted(0, 2, 0)) X(counted(1, 1, 0)) X(counted(0, -1, IPC_NOWAIT)) X(counted(0, -1, 0)) X(counted(1, -2, 0)) \
  X(counted(0, 0, 0)) X(counted(0, 0, IPC_NOWAIT)) X(exchanged(0, 1, 0)) X(exchanged(1, 0, IPC_NOWAIT)) X(timed_set()) \
  X(semctl(number, 0, GETVAL)) X(coded(semctl(number, 0, SETVAL, 1))) X(coded(semctl(number, 0, IPC_RMID)))
#define MESSAGES_OPERATIONS(X) \
  X(posted(1)) X(posted(2)) X(fetched(0, IPC_NOWAIT)) X(fetched(1, IPC_NOWAIT)) X(fetched(0, 0)) X(fetched(2, 0)) X(fetched(-2, IPC_NOWAIT)) \
  X(coded(msgctl(number, IPC_RMID, 0)))
#define QUEUE_OPERATIONS(X) \
  X(coded(mq_send(fds[1], "b", 1, 1))) X(coded(mq_send(fds[1], "c", 1, 2))) X(coded(mq_send(fds[0], "d", 1, 0))) X(received(fds[0])) \
  X(received(fds[1])) X(timed_receive()) X(ask_to_be_told()) X(ready(0, POLLIN)) X(ready(0, POLLOUT)) X(coded(close(fds[0])))
#define FILE_OPERATIONS(X) \
  X(coded(flock(fds[0], LOCK_EX | LOCK_NB))) X(coded(flock(fds[1], LOCK_EX | LOCK_NB))) X(coded(flock(fds[1], LOCK_SH | LOCK_NB))) \
  X(then_unlocked(coded(flock(fds[0], LOCK_EX)), 0)) X(then_unlocked(coded(flock(fds[1], LOCK_EX)), 1)) X(coded(flock(fds[0], LOCK_UN))) \
  X(record(0, F_WRLCK, F_OFD_SETLK)) X(record(1, F_RDLCK, F_OFD_SETLK)) X(record(0, F_UNLCK, F_OFD_SETLK)) X(record(1, F_WRLCK, F_OFD_SETLKW)) \
  X(record(0, F_WRLCK, F_SETLK)) X(coded(close(fds[0])))

/* Name, what goes before by the number of the setup, how many there are, operations, what main finds. */
#define KINDS(K) \
  K(normal, set_mutex(PTHREAD_MUTEX_NORMAL, 0, setup), 2, MUTEX_OPERATIONS, look_plain()) \
  K(recursive, set_mutex(PTHREAD_MUTEX_RECURSIVE, 0, setup), 2, MUTEX_OPERATIONS, look_mutex()) \
  K(errorcheck, set_mutex(PTHREAD_MUTEX_ERRORCHECK, 0, setup), 2, MUTEX_OPERATIONS, look_mutex()) \
  K(robust, set_mutex(PTHREAD_MUTEX_ERRORCHECK, 1, setup), 2, ROBUST_OPERATIONS, look_mutex()) \
  K(rwlock, set_rwlock(PTHREAD_RWLOCK_PREFER_READER_NP, setup), 3, RWLOCK_OPERATIONS, look_rwlock()) \
  K(writers, set_rwlock(PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP, setup), 3, RWLOCK_OPERATIONS, look_rwlock()) \
  K(spin, (pthread_spin_init(&spin, 0), setup && pthread_spin_lock(&spin)), 2, SPIN_OPERATIONS, pthread_spin_trylock(&spin)) \
  K(semaphore, sem_init(&sem, 0, setup > 2 ? SEM_VALUE_MAX - 5 + setup : setup), 6, SEM_OPERATIONS, value()) \
  K(condition, (set_mutex(0, 0, 0), pthread_cond_init(&cond, 0)), 1, COND_OPERATIONS, look_plain()) \
  K(barrier, pthread_barrier_init(&barrier, 0, setup + 1), 3, BARRIER_OPERATIONS, 0) \
  K(once, 0, 1, ONCE_OPERATIONS, ran) \
  K(key, pthread_key_create(&key, setup ? count_one : 0), 2, KEY_OPERATIONS, count) \
  K(thread, (sem_init(&gate, 0, 0), signal(SIGUSR1, handle), set_victim(setup ? waits : ends)), 2, THREAD_OPERATIONS, (sem_post(&gate), count)) \
  K(pipe, set_pipe(setup == 2 ? 4096 : setup), 3, PIPE_OPERATIONS, drained()) \
  K(socket, (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), signal(SIGPIPE, SIG_IGN), setup && put(1)), 2, SOCKET_OPERATIONS, drained()) \
  K(eventfd, fds[0] = eventfd(setup % 3, EFD_NONBLOCK | (setup > 2 ? EFD_SEMAPHORE : 0)), 6, EVENTFD_OPERATIONS, look_eventfd()) \
  K(set, set_set(setup % 2, setup / 2), 4, SET_OPERATIONS, look_set()) \
  K(messages, (number = msgget(IPC_PRIVATE, 0600), setup && posted(setup)), 3, MESSAGES_OPERATIONS, look_messages()) \
  K(queue, set_queue(setup), 3, QUEUE_OPERATIONS, look_queue()) \
  K(file, set_file(setup ? LOCK_SH : 0), 2, FILE_OPERATIONS, look_file()) \
  K(atomic, word = setup, 2, ATOMIC_OPERATIONS, word) \
  K(futex, word = setup, 2, FUTEX_OPERATIONS, word) \
  K(signal, (signal(SIGUSR1, handle), setup && masked(SIG_BLOCK)), 2, SIGNAL_OPERATIONS, 10 * count + pends())

#define DECLARE(name, before, setups, operations, after) \
  static void before_##name(int setup) { (void)setup; (void)(before); } \
  static int after_##name(void) { return after; } \
  static int do_##name(int operation) { int n = 0; operations(CASE) return -1; } \
  static const char *const texts_##name[] = {operations(TEXT) 0};
#define CASE(text) if (n++ == operation) return text;
#define TEXT(text) #text,
#define NUMBER_OF(...) 0
KINDS(DECLARE)

static const struct {
  const char *name;
  void (*before)(int);
  int setups, (*perform)(int), (*after)(void);
  const char *const *texts;
} kinds[] = {
#define ENTER(name, before, setups, operations, after) {#name, before_##name, setups, do_##name, after_##name, texts_##name},
  KINDS(ENTER)
};
#define COUNT (int)(sizeof kinds / sizeof *kinds)

/* Without hooks, but with -DHOOKED: what is not about the object takes no steps. */
#ifdef HOOKED
#define BARE
#else
#define BARE __attribute__((disable_sanitizer_instrumentation))
#endif

static int (*perform)(int);
static sem_t choice;

BARE static void *chooser(void *choices) {
  for (long i = 1; i < (long)choices; i++) sem_post(&choice);
  return 0;
}

BARE static void *thread(void *operation) { return (void *)(long)perform((int)(long)operation); }

BARE static void line(const char *log, const char *text) {
  int out = open(log, O_WRONLY | O_APPEND);
  write(out, text, strlen(text));
  close(out);
}

BARE int main(int argc, char **arguments) {
  if (argc == 1) {
    for (int k = 0; k < COUNT; k++)
      for (int n = 0; kinds[k].texts[n]; n++)
        printf("%d %s %d %d %s\n", k, kinds[k].name, kinds[k].setups, n, kinds[k].texts[n]);
    return 0;
  }
  const char *log = arguments[1];
  int pick = 0;
  if (argc > 3) {
    pthread_t chooses;
    sem_init(&choice, 0, 0);
    pthread_create(&chooses, 0, chooser, (void *)(long)(argc - 2));
    sem_getvalue(&choice, &pick);
    pthread_join(chooses, 0);
  }
  int kind, setup, operation[3] = {0};
  int threads = sscanf(arguments[2 + pick], "%d/%d/%d/%d/%d", &kind, &setup, operation, operation + 1, operation + 2) - 3;
  char text[128];
  snprintf(text, sizeof text, "%d\n", pick);
  if (*log != '-') line(log, text);
  first = pthread_self();
  perform = kinds[kind].perform;
  for (int i = 0; i <= threads; i++)
    if (strstr(kinds[kind].texts[operation[i]], "timed") && !deadline.tv_sec) {
      clock_gettime(CLOCK_REALTIME, &deadline);
      deadline.tv_nsec += 5000000;
    }
  kinds[kind].before(setup);
  pthread_t others[2];
  void *results[2] = {0};
  for (int i = 0; i < threads; i++) pthread_create(&others[i], 0, thread, (void *)(long)operation[1 + i]);
  int own = perform(operation[0]);
  for (int i = 0; i < threads; i++) pthread_join(others[i], &results[i]);
  int after = kinds[kind].after();
  if (*log == '-') return (own * 5 + (int)(long)results[0] * 3 + (int)(long)results[1] * 7 + after) & 127;
  snprintf(text, sizeof text, "%d %d %d %d: %d\n", pick, own, (int)(long)results[0], (int)(long)results[1], after);
  line(log, text);
  return 0;
}
