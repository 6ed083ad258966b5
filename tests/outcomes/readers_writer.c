/* Two readers and a writer: readers see both values or none, and may be inside together. */
#include "outcome.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int x;
static volatile int seen[2];

static void *reader(void *which)
{
    pthread_rwlock_rdlock(&lock);
    seen[(long)which] = x;
    pthread_rwlock_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, reader, (void *)0L);
    pthread_create(&t, NULL, reader, (void *)1L);
    pthread_rwlock_wrlock(&lock);
    x = 1;
    pthread_rwlock_unlock(&lock);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return seen[0] * 2 + seen[1];
}
