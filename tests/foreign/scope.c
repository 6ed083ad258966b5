/* A thread reads a local variable that may have gone out of scope: only AddressSanitizer can tell. */
#include <pthread.h>
#include <semaphore.h>

static sem_t begun;

static void *reader(void *variable) {
  sem_post(&begun);
  return (void *)(long)*(volatile int *)variable;
}

int main(void) {
  pthread_t thread;
  sem_init(&begun, 0, 0);
  {
    volatile int local = 1;
    pthread_create(&thread, 0, reader, (void *)&local);
    sem_wait(&begun);
  }
  pthread_join(thread, 0);
  return 0;
}
