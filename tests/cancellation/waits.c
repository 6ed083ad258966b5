/* A thread that waits, or may have to, is cancelled. The exit status is 1 if it was cancelled and 2 if it
 * returned. Arguments: the wait, "self" (the thread asks for its own cancellation before it waits) or "main"
 * (main does, then it ends the wait), and one of "deferred", "disabled", "asynchronous". */
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static pthread_t other, waiter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static sem_t sem;
static sigset_t signals;
static int go, fds[2], taken;
static char byte;

static void unlock(void *unused) { (void)unused; pthread_mutex_unlock(&mutex); }
static void await_go(void) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(unlock, 0);
  while (!go) pthread_cond_wait(&cond, &mutex);
  pthread_cleanup_pop(1);
}
static void say_go(void) {
  pthread_mutex_lock(&mutex);
  go = 1;
  pthread_cond_signal(&cond);
  pthread_mutex_unlock(&mutex);
}
static void *nothing(void *unused) { return unused; }

#define WAITS \
  W(join, pthread_create(&other, 0, nothing, 0); pthread_join(other, 0), ) \
  W(pause, pause(), pthread_kill(waiter, SIGUSR1)) \
  W(sigsuspend, sigset_t none; sigemptyset(&none); sigsuspend(&none), pthread_kill(waiter, SIGUSR1)) \
  W(sigwait, sigwait(&signals, &taken), pthread_kill(waiter, SIGUSR2)) \
  W(sigwaitinfo, sigwaitinfo(&signals, 0), pthread_kill(waiter, SIGUSR2)) \
  W(sem_wait, sem_wait(&sem), sem_post(&sem)) \
  W(read, (void)!read(fds[0], &byte, 1), (void)!write(fds[1], "x", 1)) \
  W(cond_wait, await_go(), say_go()) \
  W(sleep, sleep(1), )

#define W(name, wait, end) static void wait_##name(void) { wait; } static void end_##name(void) { end; }
WAITS
#undef W

static const struct { const char *name; void (*wait)(void), (*end)(void); } waits[] = {
#define W(name, wait, end) {#name, wait_##name, end_##name},
  WAITS
#undef W
};

static unsigned which;
static int cancels_itself;
static void handle(int signal) { (void)signal; }

static void *target(void *how) {
  if (!strcmp(how, "disabled")) pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, 0);
  if (!strcmp(how, "asynchronous")) pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, 0);
  if (cancels_itself) pthread_cancel(pthread_self());
  waits[which].wait();
  return 0;
}

int main(int count, char **arguments) {
  void *value;
  if (count != 4) return 99;
  while (which < sizeof waits / sizeof *waits && strcmp(waits[which].name, arguments[1])) which++;
  if (which == sizeof waits / sizeof *waits) return 98;
  cancels_itself = !strcmp(arguments[2], "self");
  signal(SIGUSR1, handle);
  sigaddset(&signals, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
  sem_init(&sem, 0, 0);
  if (pipe(fds)) return 97;
  pthread_create(&waiter, 0, target, arguments[3]);
  if (!cancels_itself) pthread_cancel(waiter);
  waits[which].end();
  pthread_join(waiter, &value);
  return value == PTHREAD_CANCELED ? 1 : 2;
}
