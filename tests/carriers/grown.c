/* `grown BYTES [locked]`: two threads give a block of so many bytes another size, where it lies or elsewhere, and
 * count in it; `locked`: one after the other. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

static int *block, is_locked;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *grows(void *bytes) {
  if (is_locked) pthread_mutex_lock(&lock);
  block = realloc(block, (size_t)bytes);
  *block += 1;
  if (is_locked) pthread_mutex_unlock(&lock);
  return NULL;
}

int main(int argc, char **argv) {
  pthread_t one, other;
  block = calloc(1, atoi(argv[1]));
  is_locked = argc > 2;
  pthread_create(&one, NULL, grows, (void *)40);
  pthread_create(&other, NULL, grows, (void *)44);
  pthread_join(one, NULL);
  pthread_join(other, NULL);
  assert(*block == 2);
  free(block);
}
