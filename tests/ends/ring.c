/* After SCTBench's token_ring_bad: fails where the check comes last and the others in a bad order. With
 * -DJOIN main waits for its threads. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int x1 = 1, x2 = 2, x3 = 1, flag1, flag2, flag3;
static void *one(void *p) { pthread_mutex_lock(&m); x1 = (x3 + 1) % 4; pthread_mutex_unlock(&m); flag1 = 1; return 0; }
static void *two(void *p) { pthread_mutex_lock(&m); x2 = x1; pthread_mutex_unlock(&m); flag2 = 1; return 0; }
static void *three(void *p) { pthread_mutex_lock(&m); x3 = x2; pthread_mutex_unlock(&m); flag3 = 1; return 0; }
static void *check(void *p) { pthread_mutex_lock(&m); if (flag1 && flag2 && flag3) assert(x1 == x2 && x2 == x3); pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t[4];
  pthread_create(&t[0], 0, check, 0);
  pthread_create(&t[1], 0, three, 0);
  pthread_create(&t[2], 0, two, 0);
  pthread_create(&t[3], 0, one, 0);
#ifdef JOIN
  for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
#endif
  return 0;
}
