/* Fails for one path: two decisions on inputs, and one on what the other thread has written. */
#include <assert.h>
#include <pthread.h>

extern int __VERIFIER_nondet_int(void);

static int shared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reader(void *unused)
{
    pthread_mutex_lock(&lock);
    int seen = shared;
    shared = seen;
    pthread_mutex_unlock(&lock);
    if (seen == 12)
        assert(!"twelve");
    return unused;
}

int main(void)
{
    pthread_t t;
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    pthread_create(&t, 0, reader, 0);
    if (a > 5)
        if (a + b != 7) {
            pthread_mutex_lock(&lock);
            shared = 12;
            pthread_mutex_unlock(&lock);
        }
    pthread_join(t, 0);
    return 0;
}
