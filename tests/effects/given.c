/* `given MODE SEEN`: one thread calls a function, another one accesses memory that the function accesses, too.
 * It ends with 1 where the access was seen to come first (SEEN is 0), or behind the call (SEEN is 1). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <iconv.h>
#include <math.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static union {
  char bytes[1024];
  long word, words[8];
  int number, numbers[16];
  pthread_key_t key;
  pthread_t thread;
  thrd_t thrd;
  pthread_attr_t attributes;
  pthread_mutexattr_t for_mutex;
  pthread_condattr_t for_cond;
  pthread_rwlockattr_t for_rwlock;
  pthread_barrierattr_t for_barrier;
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  pthread_rwlock_t rwlock;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  sem_t sem;
  mtx_t mtx;
  cnd_t cnd;
  jmp_buf jump;
  stack_t stack;
  posix_spawnattr_t for_process;
  posix_spawn_file_actions_t actions;
  pid_t process;
  timer_t timer;
  struct sigevent event;
  struct itimerspec interval;
  cpu_set_t processors;
  struct flock lock;
  struct f_owner_ex owner;
  struct msqid_ds messages;
  struct shmid_ds memory;
  struct semid_ds semaphores;
  unsigned short values[4];
} m;
static long result;
static int answer;
static pthread_t other;
static pthread_mutex_t mutex;
static thrd_t third;

static void *ends(void *p) { return p; }
static int returns(void *p) { return p != 0; }

/* What the other thread writes. */
static void word(void) { m.word = 77; }
static int is_word(void) { return m.word == 77; }
static int is_number(void) { return m.number == 77; }

static void make_other(void) { pthread_create(&other, 0, ends, 0); }
static void join(void) { pthread_join(other, (void **)&m.word); }
static void try_join(void) { while (pthread_tryjoin_np(other, (void **)&m.word)) sched_yield(); }
static void make_third(void) { thrd_create(&third, returns, 0); }
static void join_c11(void) { thrd_join(third, &m.number); }
static void key(void) { pthread_key_create(&m.key, 0); }
static void key_c11(void) { tss_create(&m.key, 0); }
static void cancel_state(void) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m.number); }
static void cancel_type(void) { pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &m.number); }
static int ends_of_pipe[2], file, failed;
static void make_pipe(void) { if (pipe(ends_of_pipe) || write(ends_of_pipe[1], "a", 1) != 1) abort(); }
static void make_file(void) { file = open("given.locked", O_RDWR | O_CREAT, 0600); m.lock.l_type = F_WRLCK; }
static void ask_bytes(void) { ioctl(ends_of_pipe[0], FIONREAD, &m.number); }
static void ask_bytes_by_number(void) { syscall(SYS_ioctl, ends_of_pipe[0], FIONREAD, &m.number); }
static void clear(void) { m.number = 0; }
static void make_blocking_pipe(void) { make_pipe(); m.number = 1; }
static void set_blocking(void) { ioctl(ends_of_pipe[0], FIONBIO, &m.number); }
static int blocks_not(void) { return !!(fcntl(ends_of_pipe[0], F_GETFL) & O_NONBLOCK); }
static void ask_lock(void) { fcntl(file, F_GETLK, &m.lock); }
static void type(void) { m.lock.l_type = F_RDLCK; }
static void no_type(void) { m.lock.l_type = 77; }
static int is_type(void) { return m.lock.l_type == F_RDLCK; }
static void set_lock(void) { failed = fcntl(file, F_SETLK, &m.lock); }
static int was_locked(void) { return failed == 0; }
static void ask_owner(void) { fcntl(ends_of_pipe[0], F_GETOWN_EX, &m.owner); }
static void ask_owner_by_number(void) { syscall(SYS_fcntl, ends_of_pipe[0], F_GETOWN_EX, &m.owner); }

static void create(void) { pthread_create(&m.thread, 0, ends, 0); }
static void create_with(void) { pthread_create(&other, &m.attributes, ends, 0); }
static void init_attributes(void) { pthread_attr_init(&m.attributes); }
static void detached(void) { pthread_attr_setdetachstate(&m.attributes, PTHREAD_CREATE_DETACHED); }
static int is_joinable(void) { return pthread_detach(other) == 0; }
static void create_c11(void) { thrd_create(&m.thrd, returns, 0); }
static void second_word(void) { m.words[1] = 0; }
static int is_second_word(void) { return m.words[1] == 0; }
static void get_own_attributes(void) { pthread_getattr_np(pthread_self(), &m.attributes); }
static int is_answer(void) { return answer == 0; }
static void ask_detached(void) { pthread_attr_getdetachstate(&m.attributes, &answer); }
static pthread_attr_t attributes;
static void make_attributes(void) { pthread_attr_init(&attributes); }
static void ask_size(void) { pthread_attr_getstacksize(&attributes, (size_t *)&m.word); }
static void put_mask(void) { sigset_t set; sigemptyset(&set); sigaddset(&set, SIGUSR1); memcpy(&m, &set, 8); }
static void set_mask(void) { pthread_attr_init(&attributes); pthread_attr_setsigmask_np(&attributes, (sigset_t *)&m); }
static int has_no_mask(void) { sigset_t set; pthread_attr_getsigmask_np(&attributes, &set); return !sigismember(&set, SIGUSR1); }

static void init_mutex_attributes(void) { pthread_mutexattr_init(&m.for_mutex); }
static void recursive(void) { pthread_mutexattr_settype(&m.for_mutex, PTHREAD_MUTEX_RECURSIVE); }
static void ask_type(void) { pthread_mutexattr_gettype(&m.for_mutex, &answer); }
static void init_mutex_with(void) { pthread_mutex_init(&mutex, &m.for_mutex); }
static int is_not_recursive(void) { pthread_mutex_lock(&mutex); return pthread_mutex_trylock(&mutex) != 0; }
static void init_cond_attributes(void) { pthread_condattr_init(&m.for_cond); }
static void monotonic(void) { pthread_condattr_setclock(&m.for_cond, CLOCK_MONOTONIC); }
static void ask_clock(void) { clockid_t clock; pthread_condattr_getclock(&m.for_cond, &clock); answer = clock; }
static void init_rwlock_attributes(void) { pthread_rwlockattr_init(&m.for_rwlock); }
static void init_barrier_attributes(void) { pthread_barrierattr_init(&m.for_barrier); }

static void init_mutex(void) { pthread_mutex_init(&m.mutex, 0); }
static void init_cond(void) { pthread_cond_init(&m.cond, 0); }
static void init_rwlock(void) { pthread_rwlock_init(&m.rwlock, 0); }
static void init_barrier(void) { pthread_barrier_init(&m.barrier, 0, 3); }
static void init_spin(void) { pthread_spin_init(&m.spin, 0); }
static void init_sem(void) { sem_init(&m.sem, 0, 5); }
static void init_mtx(void) { mtx_init(&m.mtx, mtx_plain); }
static void init_cnd(void) { cnd_init(&m.cnd); }

static void set_jump(void) { setjmp(m.jump); }
static void set_jump_with_mask(void) { sigsetjmp(m.jump, 1); }
static jmp_buf here, there;
static void jump(void) {
  if (setjmp(here) == 0) {
    if (setjmp(there) == 0) {
      memcpy(&m.jump, &there, sizeof there);
      result = 1;
      while (result == 1) sched_yield();
      longjmp(m.jump, 1);
    }
    answer = 1; /* The buffer was as it is here. */
    return;
  }
  answer = 2;
}
static void other_jump(void) { while (result == 0) sched_yield(); result = 2; memcpy(&m.jump, &here, sizeof here); }
static int jumped_there(void) { return answer == 1; }

static char room[1 << 16];
static void make_stack(void) { m.stack.ss_sp = room; m.stack.ss_size = sizeof room; }
static void no_stack(void) { m.stack.ss_flags = SS_DISABLE; }
static void set_stack(void) { stack_t old; sigaltstack(&m.stack, 0); sigaltstack(0, &old); answer = old.ss_flags; }
static void ask_stack(void) { sigaltstack(0, &m.stack); }

static char *const words[] = {"true", 0};
static void spawn(void) { posix_spawn(&m.process, "/bin/true", 0, 0, words, 0); }
static void name_true(void) { strcpy(m.bytes, "/bin/true"); }
static void name_false(void) { strcpy(m.bytes, "/bin/fals"); }
static void spawn_named(void) { pid_t process; answer = posix_spawn(&process, m.bytes, 0, 0, words, 0); }
static void init_for_process(void) { posix_spawnattr_init(&m.for_process); }
static void bad_flags(void) { memset(&m.for_process, 0xff, 2); }
static void spawn_with(void) { pid_t process; answer = posix_spawn(&process, "/bin/true", 0, &m.for_process, words, 0); }
static void init_actions(void) { posix_spawn_file_actions_init(&m.actions); }
static void bad_action(void) { posix_spawn_file_actions_addopen(&m.actions, 0, "/none", O_RDONLY, 0); }
static void spawn_acting(void) { pid_t process; answer = posix_spawn(&process, "/bin/true", &m.actions, 0, words, 0); }

static struct sigevent no_event = {.sigev_notify = SIGEV_NONE};
static timer_t a_timer;
static void timer(void) { timer_create(CLOCK_MONOTONIC, &no_event, &m.timer); }
static void make_event(void) { m.event = no_event; }
static void bad_event(void) { m.event.sigev_notify = 999; }
static void timer_with(void) { answer = timer_create(CLOCK_MONOTONIC, &m.event, &a_timer); }
static void make_timer(void) { timer_create(CLOCK_MONOTONIC, &no_event, &a_timer); }
static void long_time(void) { m.interval.it_value.tv_sec = 1000; }
static void set_timer(void) { timer_settime(a_timer, 0, &m.interval, 0); }
static int is_not_set(void) { struct itimerspec now; timer_gettime(a_timer, &now); return now.it_value.tv_sec == 0; }
static void ask_timer(void) { timer_gettime(a_timer, &m.interval); }
static void ask_old_timer(void) { static struct itimerspec none; timer_settime(a_timer, 0, &none, &m.interval); }

static void clock_of(void) { pthread_getcpuclockid(pthread_self(), (clockid_t *)&m.number); }
static void ask_priority(void) { int policy; pthread_getschedparam(pthread_self(), &policy, (struct sched_param *)&m.number); }
static void ask_policy(void) { struct sched_param p; pthread_getschedparam(pthread_self(), &m.number, &p); }
static void some_priority(void) { m.number = 5; }
static void set_priority(void) { answer = pthread_setschedparam(pthread_self(), SCHED_OTHER, (struct sched_param *)&m.number); }
static void ask_name(void) { pthread_getname_np(pthread_self(), m.bytes, 16); }
static void set_name(void) { pthread_setname_np(pthread_self(), m.bytes); }
static void name_a(void) { strcpy(m.bytes, "a"); }
static void first_b(void) { m.bytes[0] = 'b'; }
static char name[16];
static void call_named(void) { set_name(); pthread_getname_np(pthread_self(), name, 16); }
static int is_named_a(void) { return name[0] == 'a'; }
static void ask_processors(void) { pthread_getaffinity_np(pthread_self(), 8, &m.processors); }
static void ask_mask(void) { pthread_sigmask(SIG_BLOCK, 0, (sigset_t *)&m); }
static void change_mask(void) { sigset_t set; pthread_sigmask(SIG_BLOCK, (sigset_t *)&m, 0); pthread_sigmask(SIG_BLOCK, 0, &set); answer = sigismember(&set, SIGUSR1); }
static void ask_action(void) { sigaction(SIGUSR1, 0, (struct sigaction *)&m); }
static sem_t a_sem;
static void make_a_sem(void) { sem_init(&a_sem, 0, 5); }
static void ask_value(void) { sem_getvalue(&a_sem, &m.number); }
static void nothing(void) {}
static int id;
static void make_queue(void) { id = msgget(IPC_PRIVATE, 0600); failed = msgctl(id, IPC_STAT, &m.messages); }
static void ask_queue(void) { msgctl(id, IPC_STAT, &m.messages); }
static void ask_queue_by_number(void) { syscall(SYS_msgctl, id, IPC_STAT, &m.messages); }
static void set_queue(void) { failed = msgctl(id, IPC_SET, &m.messages); }
static void more_bytes(void) { m.messages.msg_qbytes = 77; }
static int has_more(void) {
  struct msqid_ds now;
  return msgctl(id, IPC_STAT, &now) || now.msg_qbytes == 77;
}
static void make_memory(void) { id = shmget(IPC_PRIVATE, 4096, 0600); failed = shmctl(id, IPC_STAT, &m.memory); }
static void ask_memory(void) { shmctl(id, IPC_STAT, &m.memory); }
static void set_memory(void) { shmctl(id, IPC_SET, &m.memory); }
static void mode_of_memory(void) { m.memory.shm_perm.mode = 0644; }
static int has_mode_of_memory(void) {
  struct shmid_ds now;
  return shmctl(id, IPC_STAT, &now) || (now.shm_perm.mode & 0777) == 0644;
}
static void make_set(void) { id = semget(IPC_PRIVATE, 4, 0600); failed = semctl(id, 0, IPC_STAT, &m.semaphores); }
static void ask_set(void) { semctl(id, 0, IPC_STAT, &m.semaphores); }
static void set_set(void) { semctl(id, 0, IPC_SET, &m.semaphores); }
static void mode_of_set(void) { m.semaphores.sem_perm.mode = 0644; }
static int has_mode_of_set(void) {
  struct semid_ds now;
  return semctl(id, 0, IPC_STAT, &now) || (now.sem_perm.mode & 0777) == 0644;
}
static void ask_values(void) { semctl(id, 0, GETALL, m.values); }
static void set_values(void) { semctl(id, 0, SETALL, m.values); }
static void clear_values(void) { memset(m.values, 0, sizeof m.values); }
static void make_values(void) { make_set(); clear_values(); }
static int has_value(void) { return semctl(id, 0, GETVAL) == 77; }
static iconv_t converter;
static void make_converter(void) { converter = iconv_open("UTF-8", "LATIN1"); strcpy(m.bytes, "a"); }
static void convert(void) {
  char *from = m.bytes, to[8] = "", *into = to;
  size_t left = 1, room = sizeof to;
  iconv(converter, &from, &left, &into, &room);
  result = to[0];
}
static int is_converted(void) { return result == 77; }
static void sign(void) { signgam = 77; }
static void logarithm(void) { lgamma(1.5); }
static int is_sign(void) { return signgam == 77; }

static const struct mode {
  const char *name;
  void (*prepare)(void), (*access)(void), (*call)(void);
  /* Did the access come behind the call? */
  int (*is_last)(void);
} modes[] = {
  {"pthread_create", nothing, word, create, is_word},
  {"attributes", init_attributes, detached, create_with, is_joinable},
  {"thrd_create", nothing, word, create_c11, is_word},
  {"pthread_attr_init", nothing, word, init_attributes, is_word},
  {"pthread_attr_setdetachstate", init_attributes, second_word, detached, is_second_word},
  {"pthread_attr_getdetachstate", init_attributes, detached, ask_detached, is_answer},
  {"pthread_attr_getstacksize", make_attributes, word, ask_size, is_word},
  {"pthread_attr_setsigmask_np", nothing, put_mask, set_mask, has_no_mask},
  {"pthread_getattr_np", nothing, word, get_own_attributes, is_word},
  {"pthread_mutexattr_init", nothing, word, init_mutex_attributes, is_number},
  {"pthread_mutexattr_settype", init_mutex_attributes, word, recursive, is_number},
  {"pthread_mutexattr_gettype", init_mutex_attributes, recursive, ask_type, is_answer},
  {"pthread_mutex_init with", init_mutex_attributes, recursive, init_mutex_with, is_not_recursive},
  {"pthread_condattr_init", nothing, word, init_cond_attributes, is_number},
  {"pthread_condattr_setclock", init_cond_attributes, word, monotonic, is_number},
  {"pthread_condattr_getclock", init_cond_attributes, monotonic, ask_clock, is_answer},
  {"pthread_rwlockattr_init", nothing, word, init_rwlock_attributes, is_word},
  {"pthread_barrierattr_init", nothing, word, init_barrier_attributes, is_number},
  {"pthread_mutex_init", nothing, word, init_mutex, is_word},
  {"pthread_cond_init", nothing, word, init_cond, is_word},
  {"pthread_rwlock_init", nothing, word, init_rwlock, is_word},
  {"pthread_barrier_init", nothing, word, init_barrier, is_word},
  {"pthread_spin_init", nothing, word, init_spin, is_number},
  {"sem_init", nothing, word, init_sem, is_number},
  {"mtx_init", nothing, word, init_mtx, is_word},
  {"cnd_init", nothing, word, init_cnd, is_word},
  {"setjmp", nothing, word, set_jump, is_word},
  {"sigsetjmp", nothing, word, set_jump_with_mask, is_word},
  {"longjmp", nothing, other_jump, jump, jumped_there},
  {"sigaltstack", make_stack, no_stack, set_stack, is_answer},
  {"sigaltstack old", nothing, word, ask_stack, is_word},
  {"posix_spawn", nothing, word, spawn, is_number},
  {"posix_spawn path", name_true, name_false, spawn_named, is_answer},
  {"posix_spawn attributes", init_for_process, bad_flags, spawn_with, is_answer},
  {"posix_spawn actions", init_actions, bad_action, spawn_acting, is_answer},
  {"timer_create", nothing, word, timer, is_word},
  {"timer_create event", make_event, bad_event, timer_with, is_answer},
  {"timer_settime", make_timer, long_time, set_timer, is_not_set},
  {"timer_settime old", make_timer, word, ask_old_timer, is_word},
  {"timer_gettime", make_timer, word, ask_timer, is_word},
  {"pthread_getcpuclockid", nothing, word, clock_of, is_number},
  {"pthread_getschedparam", nothing, word, ask_policy, is_number},
  {"pthread_getschedparam parameter", nothing, word, ask_priority, is_number},
  {"pthread_setschedparam", nothing, some_priority, set_priority, is_answer},
  {"pthread_getname_np", nothing, word, ask_name, is_number},
  {"pthread_setname_np", name_a, first_b, call_named, is_named_a},
  {"pthread_getaffinity_np", nothing, word, ask_processors, is_word},
  {"pthread_sigmask", nothing, put_mask, change_mask, is_answer},
  {"pthread_sigmask old", nothing, word, ask_mask, is_word},
  {"sigaction", nothing, word, ask_action, is_word},
  {"sem_getvalue", make_a_sem, word, ask_value, is_number},
  {"pthread_join", make_other, word, join, is_word},
  {"pthread_tryjoin_np", make_other, word, try_join, is_word},
  {"thrd_join", make_third, word, join_c11, is_number},
  {"pthread_key_create", nothing, word, key, is_number},
  {"tss_create", nothing, word, key_c11, is_number},
  {"pthread_setcancelstate", nothing, word, cancel_state, is_number},
  {"pthread_setcanceltype", nothing, word, cancel_type, is_number},
  {"FIONREAD", make_pipe, word, ask_bytes, is_number},
  {"SYS_ioctl", make_pipe, word, ask_bytes_by_number, is_number},
  {"FIONBIO", make_blocking_pipe, clear, set_blocking, blocks_not},
  {"F_GETLK", make_file, type, ask_lock, is_type},
  {"F_SETLK", make_file, no_type, set_lock, was_locked},
  {"F_GETOWN_EX", make_pipe, word, ask_owner, is_number},
  {"msgctl IPC_STAT", make_queue, word, ask_queue, is_word},
  {"SYS_msgctl", make_queue, word, ask_queue_by_number, is_word},
  {"msgctl IPC_SET", make_queue, more_bytes, set_queue, has_more},
  {"shmctl IPC_STAT", make_memory, word, ask_memory, is_word},
  {"shmctl IPC_SET", make_memory, mode_of_memory, set_memory, has_mode_of_memory},
  {"semctl IPC_STAT", make_set, word, ask_set, is_word},
  {"semctl IPC_SET", make_set, mode_of_set, set_set, has_mode_of_set},
  {"semctl GETALL", make_values, word, ask_values, is_word},
  {"semctl SETALL", make_values, word, set_values, has_value},
  {"iconv", make_converter, word, convert, is_converted},
  {"lgamma", nothing, sign, logarithm, is_sign},
  {"SYS_fcntl", make_pipe, word, ask_owner_by_number, is_number},
};

static const struct mode *mode;
static void *accesses(void *p) { mode->access(); return p; }
static void *calls(void *p) { mode->call(); return p; }

int main(int count, char **given) {
  enum { COUNT = sizeof modes / sizeof *modes };
  if (count < 3) {
    for (int i = 0; i < COUNT; i++) puts(modes[i].name);
    return 0;
  }
  for (int i = 0; i < COUNT; i++)
    if (!strcmp(modes[i].name, given[1])) mode = &modes[i];
  pthread_t a, b;
  mode->prepare();
  pthread_create(&a, 0, accesses, 0);
  pthread_create(&b, 0, calls, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
  return mode->is_last() == atoi(given[2]);
}
