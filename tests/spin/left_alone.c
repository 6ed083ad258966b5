/* A thread tries a lock, and says so if it got it; main, which may hold the lock then, waits for that: for
 * ever, when the thread has ended. */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int got;

static void *tries(void *unused) {
  if (pthread_mutex_trylock(&mutex) == 0) {
    atomic_store(&got, 1);
    pthread_mutex_unlock(&mutex);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, tries, 0);
  pthread_mutex_lock(&mutex);
  pthread_mutex_unlock(&mutex);
  while (!atomic_load(&got)) {}
  pthread_join(thread, 0);
  return 0;
}
