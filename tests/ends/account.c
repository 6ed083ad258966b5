/* After SCTBench's account_bad: fails where the check comes last. With -DJOIN main waits for its threads. */
#include <assert.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int balance = 4, deposited, withdrawn;
static void *deposit(void *p) { pthread_mutex_lock(&m); balance += 2; deposited = 1; pthread_mutex_unlock(&m); return 0; }
static void *withdraw(void *p) { pthread_mutex_lock(&m); balance -= 3; withdrawn = 1; pthread_mutex_unlock(&m); return 0; }
static void *check(void *p) { pthread_mutex_lock(&m); if (deposited && withdrawn) assert(balance == 1); pthread_mutex_unlock(&m); return 0; }
int main(void) {
  pthread_t t[3];
  pthread_create(&t[0], 0, check, 0);
  pthread_create(&t[1], 0, deposit, 0);
  pthread_create(&t[2], 0, withdraw, 0);
#ifdef JOIN
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
#endif
  return 0;
}
