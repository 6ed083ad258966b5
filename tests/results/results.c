/* Each mode lets one operation come out in all the ways in which it can, by what another thread does
 * meanwhile. The exit status says how it came out: see `code`. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/un.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

/* The exit status for a result: 1 for 0, 40 and more for other numbers, else the errno's place here. */
static int code(int result) {
  static const int errors[] = {EBUSY, ETIMEDOUT, EAGAIN, EINTR, EDEADLK, EPERM, EOWNERDEAD,
    ENOTRECOVERABLE, EINVAL, ESRCH, ENOMSG, ECONNREFUSED, EPIPE, EEXIST, ENOENT};
  if (result == 0) return 1;
  if (result == PTHREAD_BARRIER_SERIAL_THREAD) return 39;
  for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
    if (result == errors[i]) return 2 + i;
  return 38;
}
/* The same for what returns -1 and sets errno; another number n counts as 40 + n. */
static int coded(long result) { return result == -1 ? code(errno) : result ? 40 + (int)result : 1; }
static int c11(int result) { return 40 + result; }

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem;
static mtx_t mtx;
static cnd_t cnd;
static once_flag flag = ONCE_FLAG_INIT;
static pthread_t other, first;
static int word, ran, fds[2], id;
static FILE *stream;
static mqd_t queue;
static timer_t timer;
static pthread_key_t key, second_key;
static void count(void *value) { (void)value; ran++; }
static void count_two(void *value) { (void)value; ran += 2; }
struct message { long kind; char text[8]; };

static struct timespec in(clockid_t clock, int ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000L;
  if (t.tv_nsec >= 1000000000L) { t.tv_nsec -= 1000000000L; t.tv_sec++; }
  return t;
}
static struct timespec soon(void) { return in(CLOCK_REALTIME, 5); }
static struct timespec later(void) { return in(CLOCK_MONOTONIC, 5); }
static struct pollfd polled(void) { return (struct pollfd){fds[0], POLLIN, 0}; }
static struct message message(void) { return (struct message){1, "a"}; }
static void nothing(int s) { (void)s; }
static void leave_40(int s) { (void)s; _exit(40); }
static void leave_41(int s) { (void)s; _exit(41); }
static volatile int zero;
static void here(void) { ran = pthread_self() == first; }

/* What goes before, what the other thread does, and how the operation comes out. */
#define MODES \
  M(pthread_mutex_trylock, , pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex), code(pthread_mutex_trylock(&mutex))) \
  M(pthread_mutex_timedlock, struct timespec t = soon(), pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex), code(pthread_mutex_timedlock(&mutex, &t))) \
  M(pthread_mutex_clocklock, struct timespec t = later(), pthread_mutex_lock(&mutex); pthread_mutex_unlock(&mutex), code(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t))) \
  M(pthread_mutex_lock, robust(), pthread_mutex_lock(&mutex), code(pthread_mutex_lock(&mutex))) \
  M(pthread_mutex_lock_again, robust(), pthread_mutex_lock(&mutex), twice()) \
  M(pthread_mutex_trylock_dead, robust(), pthread_mutex_lock(&mutex), code(pthread_mutex_trylock(&mutex))) \
  M(pthread_mutex_timedlock_dead, robust(); struct timespec t = soon(), pthread_mutex_lock(&mutex), code(pthread_mutex_timedlock(&mutex, &t))) \
  M(mtx_trylock, mtx_init(&mtx, mtx_plain), mtx_lock(&mtx); mtx_unlock(&mtx), c11(mtx_trylock(&mtx))) \
  M(mtx_timedlock, mtx_init(&mtx, mtx_timed); struct timespec t = soon(), mtx_lock(&mtx); mtx_unlock(&mtx), c11(mtx_timedlock(&mtx, &t))) \
  M(pthread_cond_timedwait, struct timespec t = soon(); pthread_mutex_lock(&mutex), pthread_mutex_lock(&mutex); pthread_cond_signal(&cond); pthread_mutex_unlock(&mutex), code(pthread_cond_timedwait(&cond, &mutex, &t))) \
  M(pthread_cond_clockwait, struct timespec t = later(); pthread_mutex_lock(&mutex), pthread_mutex_lock(&mutex); pthread_cond_broadcast(&cond); pthread_mutex_unlock(&mutex), code(pthread_cond_clockwait(&cond, &mutex, CLOCK_MONOTONIC, &t))) \
  M(cnd_timedwait, mtx_init(&mtx, mtx_plain); cnd_init(&cnd); struct timespec t = soon(); mtx_lock(&mtx), mtx_lock(&mtx); cnd_signal(&cnd); mtx_unlock(&mtx), c11(cnd_timedwait(&cnd, &mtx, &t))) \
  M(pthread_rwlock_tryrdlock, , pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock), code(pthread_rwlock_tryrdlock(&rwlock))) \
  M(pthread_rwlock_trywrlock, , pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock), code(pthread_rwlock_trywrlock(&rwlock))) \
  M(pthread_rwlock_timedrdlock, struct timespec t = soon(), pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock), code(pthread_rwlock_timedrdlock(&rwlock, &t))) \
  M(pthread_rwlock_timedwrlock, struct timespec t = soon(), pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock), code(pthread_rwlock_timedwrlock(&rwlock, &t))) \
  M(pthread_rwlock_clockrdlock, struct timespec t = later(), pthread_rwlock_wrlock(&rwlock); pthread_rwlock_unlock(&rwlock), code(pthread_rwlock_clockrdlock(&rwlock, CLOCK_MONOTONIC, &t))) \
  M(pthread_rwlock_clockwrlock, struct timespec t = later(), pthread_rwlock_rdlock(&rwlock); pthread_rwlock_unlock(&rwlock), code(pthread_rwlock_clockwrlock(&rwlock, CLOCK_MONOTONIC, &t))) \
  M(pthread_spin_trylock, pthread_spin_init(&spin, 0), pthread_spin_lock(&spin); pthread_spin_unlock(&spin), code(pthread_spin_trylock(&spin))) \
  M(pthread_barrier_wait, pthread_barrier_init(&barrier, 0, 2), pthread_barrier_wait(&barrier), code(pthread_barrier_wait(&barrier))) \
  M(pthread_once, , pthread_once(&once, here), (pthread_once(&once, here), 40 + ran)) \
  M(call_once, , call_once(&flag, here), (call_once(&flag, here), 40 + ran)) \
  M(sem_trywait, sem_init(&sem, 0, 0), sem_post(&sem), coded(sem_trywait(&sem))) \
  M(sem_timedwait, sem_init(&sem, 0, 0); struct timespec t = soon(), sem_post(&sem), coded(sem_timedwait(&sem, &t))) \
  M(sem_clockwait, sem_init(&sem, 0, 0); struct timespec t = later(), sem_post(&sem), coded(sem_clockwait(&sem, CLOCK_MONOTONIC, &t))) \
  M(sem_getvalue, sem_init(&sem, 0, 0), sem_post(&sem), (sem_getvalue(&sem, &ran), 40 + ran)) \
  M(sem_wait, sem_init(&sem, 0, 0); handle(), pthread_kill(first, SIGUSR1); sem_post(&sem), coded(sem_wait(&sem))) \
  M(sem_open, , sem_open("/raddle_results", O_CREAT, 0600, 0), sem_open("/raddle_results", O_CREAT | O_EXCL, 0600, 0) == SEM_FAILED ? code(errno) : 1) \
  M(sem_unlink, , sem_open("/raddle_results", O_CREAT, 0600, 0), coded(sem_unlink("/raddle_results"))) \
  M(syscall, , __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST); syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0), coded(wait_futex(0))) \
  M(syscall_timed, , __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST); syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0), coded(wait_futex(5))) \
  M(syscall_wake, , wait_futex(0), coded(syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0))) \
  M(pthread_tryjoin_np, , ran = 1, code(pthread_tryjoin_np(other, 0))) \
  M(pthread_timedjoin_np, struct timespec t = soon(), ran = 1, code(pthread_timedjoin_np(other, 0, &t))) \
  M(pthread_clockjoin_np, struct timespec t = later(), ran = 1, code(pthread_clockjoin_np(other, 0, CLOCK_MONOTONIC, &t))) \
  M(pthread_detach, , pthread_detach(pthread_self()), code(pthread_detach(other))) \
  M(pthread_cancel, , pthread_testcancel(); ran = 1, cancelled()) \
  M(tgkill, , id = gettid(); ran = 1, id ? coded(tgkill(getpid(), id, 0)) : 1) \
  M(pthread_kill, , ran = 1, code(pthread_kill(other, 0))) \
  M(sigpending, block(), pthread_kill(first, SIGUSR1), pending()) \
  M(sigtimedwait, block(), pthread_kill(first, SIGUSR1), coded(wait_signal())) \
  M(sigwaitinfo, block(), pthread_kill(first, SIGUSR2); pthread_kill(first, SIGUSR1), 40 + (sigwaitinfo(&signals, 0) == SIGUSR1)) \
  M(sigwait, block(), pthread_kill(first, SIGUSR2); pthread_kill(first, SIGUSR1), (sigwait(&signals, &ran), 40 + (ran == SIGUSR1))) \
  M(nanosleep, handle(); struct timespec t = {.tv_nsec = 1000}, pthread_kill(first, SIGUSR1), coded(nanosleep(&t, 0))) \
  M(clock_nanosleep, handle(); struct timespec t = {.tv_nsec = 1000}, pthread_kill(first, SIGUSR1), code(clock_nanosleep(CLOCK_MONOTONIC, 0, &t, 0))) \
  M(usleep, handle(), pthread_kill(first, SIGUSR1), coded(usleep(1000))) \
  M(sleep, handle(), pthread_kill(first, SIGUSR1), 40 + (sleep(2) != 0)) \
  M(thrd_sleep, handle(); struct timespec t = {.tv_nsec = 1000}, pthread_kill(first, SIGUSR1), 42 + thrd_sleep(&t, 0)) \
  M(time, time_t t = time(0), sleep(5), 40 + (time(0) - t >= 5)) \
  M(clock_gettime, struct timespec t = later(), sleep(5), 40 + (later().tv_sec - t.tv_sec >= 5)) \
  M(gettimeofday, struct timeval t; struct timeval u; gettimeofday(&t, 0), sleep(5), (gettimeofday(&u, 0), 40 + (u.tv_sec - t.tv_sec >= 5))) \
  M(timespec_get, struct timespec t; struct timespec u; timespec_get(&t, TIME_UTC), sleep(5), (timespec_get(&u, TIME_UTC), 40 + (u.tv_sec - t.tv_sec >= 5))) \
  M(times, struct tms t; clock_t c = times(&t), sleep(5), 40 + (times(&t) - c >= 5 * sysconf(_SC_CLK_TCK))) \
  M(alarm, signal(SIGALRM, SIG_IGN), alarm(100), 40 + (alarm(0) != 0)) \
  M(ualarm, signal(SIGALRM, SIG_IGN), ualarm(100000, 0), 40 + (ualarm(0, 0) != 0)) \
  M(getitimer, signal(SIGALRM, SIG_IGN); struct itimerval v, struct itimerval w = {.it_value.tv_sec = 100}; setitimer(ITIMER_REAL, &w, 0), (getitimer(ITIMER_REAL, &v), 40 + (v.it_value.tv_sec != 0))) \
  M(setitimer, signal(SIGALRM, SIG_IGN); struct itimerval v; struct itimerval z = {0}, struct itimerval w = {.it_value.tv_sec = 100}; setitimer(ITIMER_REAL, &w, 0), (setitimer(ITIMER_REAL, &z, &v), 40 + (v.it_value.tv_sec != 0))) \
  M(timer_gettime, make_timer(); struct itimerspec v, arm_timer(), (timer_gettime(timer, &v), 40 + (v.it_value.tv_sec != 0))) \
  M(timer_settime, make_timer(); struct itimerspec v; struct itimerspec z = {0}, arm_timer(), (timer_settime(timer, 0, &z, &v), 40 + (v.it_value.tv_sec != 0))) \
  M(timerfd_gettime, fds[0] = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec v, struct itimerspec w = {.it_value.tv_sec = 100}; timerfd_settime(fds[0], 0, &w, 0), (timerfd_gettime(fds[0], &v), 40 + (v.it_value.tv_sec != 0))) \
  M(timerfd_settime, fds[0] = timerfd_create(CLOCK_MONOTONIC, 0); struct itimerspec v; struct itimerspec z = {0}, struct itimerspec w = {.it_value.tv_sec = 100}; timerfd_settime(fds[0], 0, &w, 0), (timerfd_settime(fds[0], 0, &z, &v), 40 + (v.it_value.tv_sec != 0))) \
  M(read, pipe2(fds, O_NONBLOCK); char b[4], write(fds[1], "ab", 2), coded(read(fds[0], b, 4))) \
  M(read_short, pipe2(fds, 0); char b[4], write(fds[1], "a", 1); write(fds[1], "b", 1), coded(read(fds[0], b, 4))) \
  M(read_end, pipe2(fds, O_NONBLOCK); char b[4], close(fds[1]), coded(read(fds[0], b, 4))) \
  M(read_interrupted, pipe2(fds, 0); char b[4]; handle(), pthread_kill(first, SIGUSR1); write(fds[1], "a", 1), coded(read(fds[0], b, 4))) \
  M(read_eventfd, fds[0] = eventfd(0, EFD_NONBLOCK); unsigned long b, eventfd_write(fds[0], 3), coded(read(fds[0], &b, 8))) \
  M(write, pipe2(fds, O_NONBLOCK); fill(), drain(), write(fds[1], "ab", 2) == -1 ? code(errno) : 42) \
  M(write_closed, pipe2(fds, O_NONBLOCK); signal(SIGPIPE, SIG_IGN), close(fds[0]), coded(write(fds[1], "ab", 2))) \
  M(poll, pipe2(fds, 0); struct pollfd p = polled(), write(fds[1], "a", 1), coded(poll(&p, 1, 5))) \
  M(poll_at_once, pipe2(fds, 0); struct pollfd p = polled(), write(fds[1], "a", 1), coded(poll(&p, 1, 0))) \
  M(select, pipe2(fds, 0); fd_set s; FD_ZERO(&s); FD_SET(fds[0], &s); struct timeval v = {.tv_usec = 5000}, write(fds[1], "a", 1), coded(select(fds[0] + 1, &s, 0, 0, &v))) \
  M(epoll_wait, pipe2(fds, 0); int e = make_epoll(); struct epoll_event v, write(fds[1], "a", 1), coded(epoll_wait(e, &v, 1, 5))) \
  M(recv, socketpair(AF_UNIX, SOCK_STREAM, 0, fds); char b[4], send(fds[1], "a", 1, 0), coded(recv(fds[0], b, 4, MSG_DONTWAIT))) \
  M(accept, int l = make_listener(SOCK_NONBLOCK, 1), make_client(), accept(l, 0, 0) == -1 ? code(errno) : 1) \
  M(connect, id = make_listener(0, 0), listen(id, 4), coded(make_client())) \
  M(flock, fds[0] = memfd_create("f", 0); fds[1] = again(fds[0]), flock(fds[1], LOCK_EX); flock(fds[1], LOCK_UN), coded(flock(fds[0], LOCK_EX | LOCK_NB))) \
  M(fcntl, fds[0] = memfd_create("f", 0); fds[1] = again(fds[0]), lock_part(fds[1], F_WRLCK); lock_part(fds[1], F_UNLCK), coded(lock_part(fds[0], F_WRLCK))) \
  M(mq_receive, make_queue(O_NONBLOCK); char b[8], mq_send(queue, "a", 1, 0), coded(mq_receive(queue, b, 8, 0))) \
  M(mq_timedreceive, make_queue(0); char b[8]; struct timespec t = soon(), mq_send(queue, "a", 1, 0), coded(mq_timedreceive(queue, b, 8, 0, &t))) \
  M(mq_send, make_queue(O_NONBLOCK); mq_send(queue, "a", 1, 0), char b[8]; mq_receive(queue, b, 8, 0), coded(mq_send(queue, "b", 1, 0))) \
  M(mq_timedsend, make_queue(0); mq_send(queue, "a", 1, 0); struct timespec t = soon(), char b[8]; mq_receive(queue, b, 8, 0), coded(mq_timedsend(queue, "b", 1, 0, &t))) \
  M(mq_getattr, make_queue(0); struct mq_attr a, mq_send(queue, "a", 1, 0), (mq_getattr(queue, &a), 40 + (int)a.mq_curmsgs)) \
  M(mq_open, , mq_open("/raddle_results", O_CREAT | O_RDWR, 0600, 0), mq_open("/raddle_results", O_CREAT | O_EXCL | O_RDWR, 0600, 0) == -1 ? code(errno) : 1) \
  M(msgrcv, id = msgget(IPC_PRIVATE, 0600); struct message m, struct message n = message(); msgsnd(id, &n, 8, 0), coded(msgrcv(id, &m, 8, 0, IPC_NOWAIT))) \
  M(msgsnd, id = msgget(IPC_PRIVATE, 0600); struct message m = message(); fill_queue(), struct message n; msgrcv(id, &n, 8, 0, 0), coded(msgsnd(id, &m, 8, IPC_NOWAIT))) \
  M(msgctl, id = msgget(IPC_PRIVATE, 0600); struct msqid_ds d, struct message n = message(); msgsnd(id, &n, 8, 0), (msgctl(id, IPC_STAT, &d), 40 + (int)d.msg_qnum)) \
  M(msgget, , msgget(77, IPC_CREAT | 0600), msgget(77, IPC_CREAT | IPC_EXCL | 0600) == -1 ? code(errno) : 1) \
  M(semop, id = semget(IPC_PRIVATE, 1, 0600), change(1, 0), coded(change(-1, IPC_NOWAIT))) \
  M(semtimedop, id = semget(IPC_PRIVATE, 1, 0600), change(1, 0), coded(change_soon(-1))) \
  M(semctl, id = semget(IPC_PRIVATE, 1, 0600), change(1, 0), 40 + semctl(id, 0, GETVAL)) \
  M(semget, , semget(77, 1, IPC_CREAT | 0600), semget(77, 1, IPC_CREAT | IPC_EXCL | 0600) == -1 ? code(errno) : 1) \
  M(sigset, , signal(SIGUSR1, nothing), 40 + (sigset(SIGUSR1, SIG_IGN) == nothing)) \
  M(ssignal, , signal(SIGUSR1, nothing), 40 + (ssignal(SIGUSR1, SIG_IGN) == nothing)) \
  M(clock, clock_t c = clock(), for (int i = 0; i < 5; i++) clock(), 40 + (clock() - c > 1)) \
  M(pthread_key_delete, pthread_key_create(&key, 0), pthread_key_delete(key), code(pthread_key_delete(key))) \
  M(pthread_key_delete_set, pthread_key_create(&key, 0), pthread_key_delete(key), code(pthread_setspecific(key, &word))) \
  M(pthread_key_delete_get, pthread_key_create(&key, 0); pthread_setspecific(key, &word), pthread_key_delete(key), 40 + (pthread_getspecific(key) == &word)) \
  M(tss_delete_set, tss_create(&key, 0), tss_delete(key), 40 + (tss_set(key, &word) == thrd_success)) \
  M(pthread_key_delete_destructor, pthread_key_create(&key, count), pthread_setspecific(key, &word), (pthread_key_delete(key), pthread_join(other, 0), 40 + ran)) \
  M(pthread_key_delete_between, pthread_key_create(&key, count); pthread_key_create(&second_key, count_two), pthread_setspecific(key, &word); pthread_setspecific(second_key, &word), (pthread_key_delete(second_key), pthread_join(other, 0), 40 + ran)) \
  M(pthread_key_delete_exit, pthread_key_create(&key, count), pthread_setspecific(key, &word); pthread_exit(0), (pthread_key_delete(key), pthread_join(other, 0), 40 + ran)) \
  M(pthread_key_delete_joined, pthread_key_create(&key, count), pthread_setspecific(key, &word), (pthread_join(other, 0), pthread_key_delete(key), 40 + ran)) \
  M(tss_delete, tss_create(&key, count), tss_set(key, &word), (tss_delete(key), pthread_join(other, 0), 40 + ran)) \
  M(mq_unlink, make_queue(0), mq_unlink("/raddle_results"), coded(mq_unlink("/raddle_results"))) \
  M(mq_notify, make_queue(0); struct sigevent e = {.sigev_notify = SIGEV_NONE}, struct sigevent e = {.sigev_notify = SIGEV_NONE}; mq_notify(queue, &e), coded(mq_notify(queue, &e))) \
  M(pthread_join, void *v, if (word) pthread_exit(&word), (word = 1, pthread_join(other, &v), 40 + (v == &word))) \
  M(thrd_join, int v, if (word) thrd_exit(1), (word = 1, thrd_join(other, &v), 40 + v)) \
  M(thrd_detach, , thrd_detach(thrd_current()), c11(thrd_detach(other))) \
  M(pthread_getname_np, char b[16], pthread_setname_np(first, "x"), (pthread_getname_np(first, b, 16), 40 + (b[0] == 'x'))) \
  M(sched_getscheduler, , struct sched_param q = {0}; sched_setscheduler(getpid(), SCHED_BATCH, &q), 40 + (sched_getscheduler(0) == SCHED_BATCH)) \
  M(sched_getaffinity, cpu_set_t s, only_one(getpid()), (sched_getaffinity(0, sizeof s, &s), 40 + (CPU_COUNT(&s) == 1))) \
  M(pthread_getaffinity_np, cpu_set_t s, only_one(getpid()), (pthread_getaffinity_np(first, sizeof s, &s), 40 + (CPU_COUNT(&s) == 1))) \
  M(pthread_getschedparam, struct sched_param p; int k, struct sched_param q = {0}; pthread_setschedparam(first, SCHED_BATCH, &q), (pthread_getschedparam(first, &k, &p), 40 + (k == SCHED_BATCH))) \
  M(pthread_mutex_lock_lost, orphaned(), lose(), code(pthread_mutex_lock(&mutex))) \
  M(pthread_mutex_trylock_lost, orphaned(), lose(), code(pthread_mutex_trylock(&mutex))) \
  M(pthread_mutex_timedlock_lost, orphaned(); struct timespec t = soon(), lose(), code(pthread_mutex_timedlock(&mutex, &t))) \
  M(pthread_mutex_clocklock_lost, orphaned(); struct timespec t = later(), lose(), code(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t))) \
  M(pthread_mutex_trylock_repaired, orphaned(), repair(), code(pthread_mutex_trylock(&mutex))) \
  M(pthread_mutex_trylock_left, robust(), pthread_mutex_lock(&mutex), repaired(pthread_mutex_trylock(&mutex))) \
  M(pthread_mutex_timedlock_left, robust(); struct timespec t = soon(), pthread_mutex_lock(&mutex), repaired(pthread_mutex_timedlock(&mutex, &t))) \
  M(pthread_mutex_clocklock_left, robust(); struct timespec t = later(), pthread_mutex_lock(&mutex), repaired(pthread_mutex_clocklock(&mutex, CLOCK_MONOTONIC, &t))) \
  M(ftrylockfile, stream = fopen("/dev/null", "r"), flockfile(stream); funlockfile(stream), code(ftrylockfile(stream))) \
  M(ftrylockfile_usual, stream = stdout, ftrylockfile(stream) || (funlockfile(stream), 0), code(ftrylockfile(stream))) \
  M(flockfile, stream = fopen("/dev/null", "r"), flockfile(stream); ran = 1; ran = 2; funlockfile(stream), (flockfile(stream), flockfile(stream), 40 + ran)) \
  M(sched_getaffinity_ended, cpu_set_t s, id = gettid(), id ? coded(sched_getaffinity(id, sizeof s, &s)) : 41) \
  M(sched_setaffinity_ended, cpu_set_t s; sched_getaffinity(0, sizeof s, &s), id = gettid(), id ? coded(sched_setaffinity(id, sizeof s, &s)) : 41) \
  M(sched_getparam, struct sched_param p, id = gettid(), id ? coded(sched_getparam(id, &p)) : 41) \
  M(sched_setparam, struct sched_param p = {0}, id = gettid(), id ? coded(sched_setparam(id, &p)) : 41) \
  M(sched_getscheduler_ended, , id = gettid(), id ? coded(sched_getscheduler(id)) : 41) \
  M(sched_setscheduler, struct sched_param p = {0}, id = gettid(), id ? coded(sched_setscheduler(id, SCHED_BATCH, &p)) : 41) \
  M(sched_rr_get_interval, struct timespec t, id = gettid(), id ? coded(sched_rr_get_interval(id, &t)) : 41) \
  M(getpriority, , id = gettid(), id ? coded(getpriority(PRIO_PROCESS, id)) : 41) \
  M(setpriority, , id = gettid(), id ? coded(setpriority(PRIO_PROCESS, id, 0)) : 41) \
  M(prlimit, struct rlimit l, id = gettid(), id ? coded(prlimit(id, RLIMIT_CORE, 0, &l)) : 41) \
  M(getpgid, , id = gettid(), id ? coded(getpgid(id) < 0 ? -1 : 0) : 41) \
  M(getsid, , id = gettid(), id ? coded(getsid(id) < 0 ? -1 : 0) : 41) \
  M(kill, , id = gettid(), id ? coded(kill(id, 0)) : 41) \
  M(syscall_tkill, , id = gettid(), id ? coded(syscall(SYS_tkill, id, 0)) : 41) \
  M(syscall_sched_getattr, char b[64], id = gettid(), id ? coded(syscall(SYS_sched_getattr, id, b, 48, 0)) : 41) \
  M(access_task, char path[64], id = gettid(), id ? (sprintf(path, "/proc/self/task/%d", id), coded(access(path, F_OK))) : 41) \
  M(pthread_getcpuclockid, clockid_t c, ran = 1, code(pthread_getcpuclockid(other, &c))) \
  M(clock_gettime_ended, clockid_t c; struct timespec t, ran = 1, pthread_getcpuclockid(other, &c) ? 41 : coded(clock_gettime(c, &t))) \
  M(pthread_getname_np_ended, char b[16], ran = 1, code(pthread_getname_np(other, b, 16))) \
  M(pthread_setname_np, , ran = 1, code(pthread_setname_np(other, "x"))) \
  M(pthread_getschedparam_ended, struct sched_param p; int k, ran = 1, code(pthread_getschedparam(other, &k, &p))) \
  M(pthread_setschedparam, struct sched_param p = {0}, ran = 1, code(pthread_setschedparam(other, SCHED_BATCH, &p))) \
  M(pthread_setschedprio, , ran = 1, code(pthread_setschedprio(other, 0))) \
  M(sem_trywait_init, sem_init(&sem, 0, 0), sem_init(&sem, 0, 1), coded(sem_trywait(&sem))) \
  M(sem_getvalue_init, sem_init(&sem, 0, 0), sem_init(&sem, 0, 3), (sem_getvalue(&sem, &ran), 40 + ran)) \
  M(pthread_spin_trylock_init, pthread_spin_init(&spin, 0); pthread_spin_lock(&spin), pthread_spin_init(&spin, 0), code(pthread_spin_trylock(&spin))) \
  M(pthread_rwlock_trywrlock_init, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_init(&rwlock, 0), code(pthread_rwlock_trywrlock(&rwlock))) \
  M(pthread_mutex_trylock_init, pthread_mutex_lock(&mutex), pthread_mutex_init(&mutex, 0), code(pthread_mutex_trylock(&mutex))) \
  M(mtx_trylock_init, mtx_init(&mtx, mtx_plain); mtx_lock(&mtx), mtx_init(&mtx, mtx_plain), c11(mtx_trylock(&mtx))) \
  M(ioctl, pipe2(fds, 0), write(fds[1], "ab", 2), (ioctl(fds[0], FIONREAD, &ran), 40 + ran)) \
  M(window_barrier, pthread_barrier_init(&barrier, 0, 1), pthread_barrier_destroy(&barrier); pthread_barrier_init(&barrier, 0, 1), (pthread_barrier_wait(&barrier), 1)) \
  M(window_cond, , pthread_cond_destroy(&cond); pthread_cond_init(&cond, 0), code(pthread_cond_signal(&cond))) \
  M(window_cnd, cnd_init(&cnd), cnd_destroy(&cnd); cnd_init(&cnd), code(cnd_broadcast(&cnd))) \
  M(window_rwlock, , pthread_rwlock_destroy(&rwlock); pthread_rwlock_init(&rwlock, 0), code(pthread_rwlock_tryrdlock(&rwlock))) \
  M(window_spin, pthread_spin_init(&spin, 0), pthread_spin_destroy(&spin); pthread_spin_init(&spin, 0), code(pthread_spin_trylock(&spin))) \
  M(window_sem, sem_init(&sem, 0, 1), sem_destroy(&sem); sem_init(&sem, 0, 1), code(sem_trywait(&sem))) \
  M(window_mutex, , pthread_mutex_destroy(&mutex); pthread_mutex_init(&mutex, 0), code(pthread_mutex_trylock(&mutex))) \
  M(window_mtx, mtx_init(&mtx, mtx_plain), mtx_destroy(&mtx); mtx_init(&mtx, mtx_plain), c11(mtx_trylock(&mtx))) \
  M(sigaction, struct sigaction a, signal(SIGUSR1, nothing), (sigaction(SIGUSR1, 0, &a), 40 + (a.sa_handler == nothing))) \
  M(signal_fault, signal(SIGFPE, leave_40), signal(SIGFPE, leave_41), 1 / zero) \
  M(signal, , signal(SIGUSR1, nothing), 40 + (signal(SIGUSR1, SIG_IGN) == nothing))

static void only_one(pid_t thread) {
  cpu_set_t s;
  CPU_ZERO(&s);
  CPU_SET(sched_getcpu(), &s);
  sched_setaffinity(thread, sizeof s, &s);
}
static void robust(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&mutex, &a);
}
static void *leave_it(void *p) { (void)p; pthread_mutex_lock(&mutex); return 0; }
/* A robust mutex whose owner has ended. */
static void orphaned(void) {
  pthread_t owner;
  robust();
  pthread_create(&owner, 0, leave_it, 0);
  pthread_join(owner, 0);
}
static void lose(void) {
  int result = pthread_mutex_lock(&mutex);
  if (result == 0 || result == EOWNERDEAD) pthread_mutex_unlock(&mutex);
}
static void repair(void) {
  if (pthread_mutex_lock(&mutex) == EOWNERDEAD) {
    pthread_mutex_consistent(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}
static int repaired(int result) {
  if (result == EOWNERDEAD) pthread_mutex_consistent(&mutex);
  return result == EOWNERDEAD ? 8 : 1;
}
static int twice(void) {
  if (pthread_mutex_lock(&mutex) == EOWNERDEAD) {
    pthread_mutex_unlock(&mutex);
    return code(pthread_mutex_lock(&mutex));
  }
  return 1;
}
static void handle(void) {
  struct sigaction a = {.sa_handler = nothing};
  sigaction(SIGUSR1, &a, 0);
}
static sigset_t signals;
static void block(void) {
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
}
static int pending(void) {
  sigset_t s;
  sigpending(&s);
  return 40 + sigismember(&s, SIGUSR1);
}
static int wait_signal(void) {
  struct timespec t = {0, 1000};
  int s = sigtimedwait(&signals, 0, &t);
  return s < 0 ? s : 0;
}
static int wait_futex(int ms) {
  struct timespec t = {0, ms * 1000000L};
  return syscall(SYS_futex, &word, FUTEX_WAIT, 0, ms ? &t : 0, 0, 0);
}
static int cancelled(void) {
  void *value;
  pthread_cancel(other);
  pthread_join(other, &value);
  return 40 + (value == PTHREAD_CANCELED);
}
static void make_timer(void) {
  struct sigevent e = {.sigev_notify = SIGEV_NONE};
  timer_create(CLOCK_MONOTONIC, &e, &timer);
}
static void arm_timer(void) {
  struct itimerspec w = {.it_value.tv_sec = 100};
  timer_settime(timer, 0, &w, 0);
}
static char page[4096];
static void fill(void) {
  fcntl(fds[1], F_SETPIPE_SZ, 4096);
  while (write(fds[1], page, sizeof page) > 0);
}
static void drain(void) { read(fds[0], page, sizeof page); }
static int make_epoll(void) {
  struct epoll_event v = {.events = EPOLLIN};
  int e = epoll_create1(0);
  epoll_ctl(e, EPOLL_CTL_ADD, fds[0], &v);
  return e;
}
static struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "\0raddle_results"};
static int make_listener(int flags, int listening) {
  int l = socket(AF_UNIX, SOCK_STREAM | flags, 0);
  bind(l, (struct sockaddr *)&address, sizeof address);
  if (listening) listen(l, 4);
  return l;
}
static int make_client(void) {
  return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof address);
}
static int again(int fd) {
  char path[] = "/proc/self/fd/00";
  path[14] += fd / 10;
  path[15] += fd % 10;
  if (fd < 10) { path[14] = '0' + fd; path[15] = 0; }
  return open(path, O_RDWR);
}
static int lock_part(int fd, int kind) {
  struct flock l = {.l_type = kind, .l_len = 1};
  return fcntl(fd, F_OFD_SETLK, &l);
}
static void make_queue(int flags) {
  struct mq_attr a = {.mq_maxmsg = 1, .mq_msgsize = 8};
  queue = mq_open("/raddle_results", O_CREAT | O_RDWR | flags, 0600, &a);
}
static void fill_queue(void) {
  struct msqid_ds d;
  struct message m = {1, "a"};
  msgctl(id, IPC_STAT, &d);
  d.msg_qbytes = 8;
  msgctl(id, IPC_SET, &d);
  msgsnd(id, &m, 8, 0);
}
static int change(int by, int flags) {
  struct sembuf o = {0, by, flags};
  return semop(id, &o, 1);
}
static int change_soon(int by) {
  struct sembuf o = {0, by, 0};
  struct timespec t = {0, 1000};
  return semtimedop(id, &o, 1, &t);
}

#define M(name, before, they, result) \
  static void *they_##name(void *p) { (void)p; they; return 0; } \
  static int we_##name(void) { before; pthread_create(&other, 0, they_##name, 0); return result; }
MODES
#undef M

int main(int count, char **mode) {
  first = pthread_self();
#define M(name, before, they, result) if (count == 2 && !strcmp(mode[1], #name)) _exit(we_##name());
  MODES
  return 99;
}
