/* `given MODE SEEN`: one thread calls a function, another one accesses memory that the function accesses, too.
 * It ends with 1 where the access was seen to come first (SEEN is 0), or behind the call (SEEN is 1). */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

static union {
  char bytes[512];
  long word;
  int number;
  pthread_t thread;
  thrd_t thrd;
  pthread_key_t key;
  jmp_buf jump;
  pthread_attr_t attributes;
} m;
static long result;
static pthread_t other;
static thrd_t third;

static void *ends(void *p) { return p; }
static int returns(void *p) { return p != 0; }

/* What the other thread writes. */
static void word(void) { m.word = 77; }
static void detached(void) { pthread_attr_setdetachstate(&m.attributes, PTHREAD_CREATE_DETACHED); }
static int is_word(void) { return m.word == 77; }
static int is_number(void) { return m.number == 77; }

static void create(void) { pthread_create(&m.thread, 0, ends, 0); }
static void create_with(void) { pthread_create(&other, &m.attributes, ends, 0); }
static void init_attributes(void) { pthread_attr_init(&m.attributes); }
static int is_joinable(void) { return pthread_detach(other) == 0; }
static void create_c11(void) { thrd_create(&m.thrd, returns, 0); }
static void make_other(void) { pthread_create(&other, 0, ends, 0); }
static void join(void) { pthread_join(other, (void **)&m.word); }
static void try_join(void) { while (pthread_tryjoin_np(other, (void **)&m.word)) sched_yield(); }
static void make_third(void) { thrd_create(&third, returns, 0); }
static void join_c11(void) { thrd_join(third, &m.number); }
static void key(void) { pthread_key_create(&m.key, 0); }
static void key_c11(void) { tss_create(&m.key, 0); }
static void cancel_state(void) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &m.number); }
static void cancel_type(void) { pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &m.number); }
static void set_jump(void) { setjmp(m.jump); }
static void set_jump_with_mask(void) { sigsetjmp(m.jump, 1); }
static void nothing(void) {}

static const struct mode {
  const char *name;
  void (*prepare)(void), (*access)(void), (*call)(void);
  /* Did the access come behind the call? */
  int (*is_last)(void);
} modes[] = {
  {"pthread_create", nothing, word, create, is_word},
  {"attributes", init_attributes, detached, create_with, is_joinable},
  {"thrd_create", nothing, word, create_c11, is_word},
  {"pthread_join", make_other, word, join, is_word},
  {"pthread_tryjoin_np", make_other, word, try_join, is_word},
  {"thrd_join", make_third, word, join_c11, is_number},
  {"pthread_key_create", nothing, word, key, is_number},
  {"tss_create", nothing, word, key_c11, is_number},
  {"pthread_setcancelstate", nothing, word, cancel_state, is_number},
  {"pthread_setcanceltype", nothing, word, cancel_type, is_number},
  {"setjmp", nothing, word, set_jump, is_word},
  {"sigsetjmp", nothing, word, set_jump_with_mask, is_word},
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
