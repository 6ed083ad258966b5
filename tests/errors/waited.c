/* `waited OBJECT ORDER`: a thread waits in an object, whose memory main writes: it is made anew by an
 * assignment, or by its constructor, and then whoever waits is let go on. ORDER 0: whenever; 1: before the thread is there.
 * (A thread that waits when that happens waits for ever, or not: C libraries differ.) */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

enum { MUTEX, COND, RWLOCK, BARRIER, SEM, ONCE, CONSTRUCTED };

/* std::condition_variable::condition_variable() */
void _ZNSt18condition_variableC1Ev(void *);

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, guard = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier, fresh;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t sem, turn;
static int object, order, ready, ran;

static void run(void) {
  ran++;
  if (order == 0) once = (pthread_once_t)PTHREAD_ONCE_INIT;
}

static void *waits(void *unused) {
  if (order == 1) sem_wait(&turn);
  switch (object) {
  case MUTEX: pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex); break;
  case COND:
  case CONSTRUCTED:
    pthread_mutex_lock(&guard);
    while (!ready) pthread_cond_wait(&cond, &guard);
    pthread_mutex_unlock(&guard);
    break;
  case RWLOCK: pthread_rwlock_rdlock(&rwlock), pthread_rwlock_unlock(&rwlock); break;
  case BARRIER: pthread_barrier_wait(&barrier); break;
  case SEM: sem_wait(&sem); break;
  case ONCE: pthread_once(&once, run); break;
  }
  return unused;
}

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  object = atoi(argv[1]), order = atoi(argv[2]);
  pthread_barrier_init(&barrier, 0, 2);
  pthread_barrier_init(&fresh, 0, 2);
  sem_init(&sem, 0, 0);
  sem_init(&turn, 0, 0);
  pthread_t thread;
  pthread_create(&thread, 0, waits, 0);
  switch (object) {
  case MUTEX:
    if (order == 0) pthread_mutex_lock(&mutex);
    mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    break;
  case COND:
  case CONSTRUCTED:
    pthread_mutex_lock(&guard);
    if (object == COND) cond = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    else _ZNSt18condition_variableC1Ev(&cond);
    ready = 1;
    pthread_cond_signal(&cond);
    pthread_mutex_unlock(&guard);
    break;
  case RWLOCK:
    if (order == 0) pthread_rwlock_wrlock(&rwlock);
    rwlock = (pthread_rwlock_t)PTHREAD_RWLOCK_INITIALIZER;
    break;
  case BARRIER: memcpy(&barrier, &fresh, sizeof barrier); break;
  case SEM: memset(&sem, 0, sizeof sem), sem_post(&sem); break;
  case ONCE: once = (pthread_once_t)PTHREAD_ONCE_INIT; break;
  }
  if (order == 1) sem_post(&turn);
  switch (object) {
  case BARRIER: pthread_barrier_wait(&barrier); break;
  case ONCE: pthread_once(&once, run); break;
  }
  pthread_join(thread, 0);
  return order == 1 && object == ONCE && ran != 1;
}
