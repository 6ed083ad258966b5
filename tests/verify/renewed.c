/* An object is used, destroyed and initialised again, and used: `renewed ORDER`. OBJECT: which. ORDER: who
 * does what, and what keeps that in order; `n`, `N`: nothing does. Of a semaphore (4) `verify` may say that it
 * does not know the new count in other orders than those that were executed. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
static int uses;
#if OBJECT == 0
static pthread_mutex_t o;
static void begin(void) { assert(!pthread_mutex_init(&o, 0)); }
static void use(void) { assert(!pthread_mutex_lock(&o)); uses++; assert(!pthread_mutex_unlock(&o)); }
static void end(void) { assert(!pthread_mutex_destroy(&o)); }
#elif OBJECT == 1
static pthread_rwlock_t o;
static void begin(void) { assert(!pthread_rwlock_init(&o, 0)); }
static void use(void) { assert(!pthread_rwlock_wrlock(&o)); uses++; assert(!pthread_rwlock_unlock(&o)); }
static void end(void) { assert(!pthread_rwlock_destroy(&o)); }
#elif OBJECT == 2
static pthread_barrier_t o;
static void begin(void) { assert(!pthread_barrier_init(&o, 0, 1)); }
static void use(void) { assert(pthread_barrier_wait(&o) == PTHREAD_BARRIER_SERIAL_THREAD); }
static void end(void) { assert(!pthread_barrier_destroy(&o)); }
#elif OBJECT == 3
static pthread_cond_t o;
static void begin(void) { assert(!pthread_cond_init(&o, 0)); }
static void use(void) { assert(!pthread_cond_signal(&o)); }
static void end(void) { assert(!pthread_cond_destroy(&o)); }
#elif OBJECT == 4
static sem_t o;
static void begin(void) { assert(!sem_init(&o, 0, 1)); }
static void use(void) { assert(!sem_wait(&o)); uses++; assert(!sem_post(&o)); }
static void end(void) { assert(!sem_destroy(&o)); }
#elif OBJECT == 5
static pthread_spinlock_t o;
static void begin(void) { assert(!pthread_spin_init(&o, 0)); }
static void use(void) { assert(!pthread_spin_lock(&o)); uses++; assert(!pthread_spin_unlock(&o)); }
static void end(void) { assert(!pthread_spin_destroy(&o)); }
#endif
static char how;
static sem_t go, go2;
static pthread_mutex_t hand = PTHREAD_MUTEX_INITIALIZER;
static int flag;
static void set(int v) { pthread_mutex_lock(&hand); flag = v; pthread_mutex_unlock(&hand); }
static int is(int v) { pthread_mutex_lock(&hand); int r = flag == v; pthread_mutex_unlock(&hand); return r; }
static void *first(void *a) {
  use();
  switch (how) {
  case 'a': end(); begin(); use(); break; /* all of it here; the others after a join */
  case 'j': case 'n': end(); break; /* 'j': main initialises it after a join */
  case 's': case 'S': end(); sem_post(&go); break; /* the second thread does, or main, after a semaphore */
  case 'r': end(); begin(); sem_post(&go); break;
  case 'm': end(); set(1); break; /* after a flag under another mutex */
  case 'M': end(); begin(); set(1); break;
  case 'N': end(); begin(); break;
  case 'P': sem_post(&go); break;
  }
  return a;
}
static void *second(void *a) {
  switch (how) {
  case 'j': case 'a': use(); break;
  case 'k': begin(); use(); break; /* main has destroyed it */
  case 's': sem_wait(&go); begin(); use(); break;
  case 'S': sem_wait(&go2); use(); break;
  case 'r': sem_wait(&go); use(); break;
  case 'm': if (is(1)) { begin(); use(); } break;
  case 'M': if (is(1)) use(); break;
  case 'n': begin(); use(); break;
  case 'N': use(); break;
  case 'P': sem_wait(&go); end(); begin(); use(); break;
  }
  return a;
}
int main(int c, char **v) {
  how = v[1][0];
  sem_init(&go, 0, 0); sem_init(&go2, 0, 0);
  pthread_t f, s;
  begin();
  pthread_create(&f, 0, first, 0);
  if (strchr("jka", how)) pthread_join(f, 0);
  if (how == 'k') end();
  if (how == 'j') begin();
  pthread_create(&s, 0, second, 0);
  if (how == 'S') { sem_wait(&go); begin(); sem_post(&go2); }
  if (!strchr("jka", how)) pthread_join(f, 0);
  pthread_join(s, 0);
  if (!strchr("mnN", how)) use();
  return 0;
}
