/* A function returns several times from setjmp, on the heap and on its own stack, also out of a call of the C
 * library. It fails if anything is not as it was left. */
#include <assert.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

struct image { jmp_buf jump; int rows, failed; };
static int shared;
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static __thread jmp_buf *target;
static int leaves(const void *a, const void *b) { longjmp(*target, 3); }
__attribute__((noinline)) static void row(struct image *i, int n) {
  i->rows++;
  if (n == 2) longjmp(i->jump, 7);
}
static void *reads(void *p) {
  struct image *i = malloc(sizeof *i);
  memset(i, 0, sizeof *i);
  volatile int round = 0, n = 0;
  int result = setjmp(i->jump);
  if (result) { assert(result == 7); i->failed++; round++; }
  if (round < 2) {
    for (n = 0; n < 4; n++) row(i, n);
    abort();
  }
  assert(i->rows == 6 && i->failed == 2 && n == 2);
  int array[3] = {3, 1, 2};
  jmp_buf own;
  target = &own;
  if (p) {
    if (setjmp(own) == 0) { qsort(array, 3, sizeof *array, leaves); abort(); }
    char text[20], other[20];
    strcpy(text, "hello"); strcpy(other, text);
    assert(!strcmp(other, "hello"));
  }
  pthread_mutex_lock(&m);
  shared++;
  pthread_mutex_unlock(&m);
  free(i);
  return 0;
}
int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, reads, (void *)(long)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
  assert(shared == 2);
}
