// Main uses what lay on the stack of a thread that has ended: a variable of a function (0), one that is
// the thread's own (1), a copy of either (2); or what lies on that of a thread that has not ended (3).
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static int kind;
static int *left;
static sem_t ready, seen;
static _Thread_local int own;

static void *leave(void *argument) {
  int local = 5;
  (void)argument;
  left = kind == 1 ? &own : &local;
  *left = 5;
  if (kind == 3) {
    sem_post(&ready);
    sem_wait(&seen);
  }
  return 0;
}

int main(int count, char **arguments) {
  pthread_t thread;
  int copy = 0;
  kind = count > 1 ? atoi(arguments[1]) : 0;
  sem_init(&ready, 0, 0);
  sem_init(&seen, 0, 0);
  pthread_create(&thread, 0, leave, 0);
  if (kind == 3) {
    sem_wait(&ready);
    copy = *left;
    sem_post(&seen);
  }
  pthread_join(thread, 0);
  if (kind == 2) memcpy(&copy, left, sizeof copy);
  if (kind < 2) copy = *left;
  return copy == 4;
}
