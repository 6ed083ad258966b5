/* `bytes OBJECT WHAT ORDER`: one thread operates on an object of the kind, another one does WHAT to the
 * object's memory (END: it ends, and the object lies on its stack; CUT: it makes the block smaller). ORDER 0: in any order; 1: the second thread after the first, kept so by a semaphore;
 * 2: before it; 3: when the first one has been joined. What depends on the order ends with 1 (or fails). */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { MUTEX, COND, RWLOCK, BARRIER, SPIN, SEM, ONCE };
enum { ASSIGN, READ, FREE, UNMAP, END, CUT };
enum { ANY, AFTER, BEFORE, JOINED };

union object {
  pthread_mutex_t mutex;
  pthread_cond_t cond;
  pthread_rwlock_t rwlock;
  pthread_barrier_t barrier;
  pthread_spinlock_t spin;
  sem_t sem;
  pthread_once_t once;
  char bytes[64];
};

static union object *it, fresh, seen;
static char *block;
static int object, what, order, ran;
static sem_t turn, made;

static void run(void) { ran++; }

static void make(union object *o) {
  memset(o, 0, sizeof *o);
  switch (object) {
  case MUTEX: o->mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; break;
  case COND: o->cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER; break;
  case RWLOCK: o->rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER; break;
  case BARRIER: pthread_barrier_init(&o->barrier, 0, 1); break;
  case SPIN: pthread_spin_init(&o->spin, 0); break;
  case SEM: sem_init(&o->sem, 0, 0); break;
  case ONCE: o->once = PTHREAD_ONCE_INIT; break;
  }
}

/* What leaves something behind. */
static void begin(void) {
  switch (object) {
  case MUTEX: pthread_mutex_lock(&it->mutex); break;
  case COND: pthread_cond_signal(&it->cond); break;
  case RWLOCK: pthread_rwlock_wrlock(&it->rwlock); break;
  case BARRIER: pthread_barrier_wait(&it->barrier); break;
  case SPIN: pthread_spin_lock(&it->spin); break;
  case SEM: sem_post(&it->sem); break;
  case ONCE: pthread_once(&it->once, run); break;
  }
}

/* Is it as `begin` has left it, as another thread sees it? */
static int begun(void) {
  switch (object) {
  case MUTEX: return pthread_mutex_trylock(&it->mutex) != 0;
  case RWLOCK: return pthread_rwlock_trywrlock(&it->rwlock) != 0;
  case SPIN: return pthread_spin_trylock(&it->spin) != 0;
  case SEM: return sem_trywait(&it->sem) == 0;
  case ONCE: ran = 0; pthread_once(&it->once, run); return !ran;
  }
  return 0;
}

static void *user(void *unused) {
  sem_wait(&made);
  if (order == BEFORE) sem_wait(&turn);
  begin();
  if (order == AFTER) sem_post(&turn);
  return unused;
}

static void *other(void *unused) {
  union object mine;
  if (what == END) {
    it = &mine;
    make(it);
    sem_post(&made);
  }
  if (order == AFTER) sem_wait(&turn);
  switch (what) {
  case ASSIGN: memcpy(it, &fresh, sizeof fresh); break;
  case READ: memcpy(&seen, it, sizeof seen); break;
  case FREE: free(it); break;
  case UNMAP: munmap(it, 4096); break;
  case CUT: block = realloc(block, 16); break;
  }
  if (order == BEFORE) sem_post(&turn);
  return unused;
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  object = atoi(argv[1]), what = atoi(argv[2]), order = atoi(argv[3]);
  make(&fresh);
  if (what == UNMAP) it = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  else if (what == CUT) block = malloc(256 + sizeof *it), it = (union object *)(block + 256);
  else it = malloc(sizeof *it);
  sem_init(&turn, 0, 0);
  sem_init(&made, 0, 0);
  if (what != END) {
    make(it);
    sem_post(&made);
  }
  pthread_t threads[2];
  pthread_create(&threads[0], 0, user, 0);
  if (order == JOINED) pthread_join(threads[0], 0);
  pthread_create(&threads[1], 0, other, 0);
  if (what == END) pthread_join(threads[1], 0);
  if (order != JOINED) pthread_join(threads[0], 0);
  if (what != END) pthread_join(threads[1], 0);
  switch (what) {
  /* The assignment undid it. */
  case ASSIGN: return order == ANY && object != COND && object != BARRIER && !begun();
  case READ: return order == ANY && memcmp(&seen, &fresh, sizeof seen) != 0;
  }
  return 0;
}
