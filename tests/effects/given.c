/* `given MODE SEEN`: one thread calls a function, another one accesses memory that the function accesses, too.
 * It ends with 1 where the access was seen to come first (SEEN is 0), or behind the call (SEEN is 1). */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
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
#include <unistd.h>

static union {
  char bytes[512];
  long word;
  int number;
  pthread_key_t key;
  struct flock lock;
  struct f_owner_ex owner;
  struct msqid_ds messages;
  struct shmid_ds memory;
  struct semid_ds semaphores;
  unsigned short values[4];
} m;
static long result;
static pthread_t other;
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
