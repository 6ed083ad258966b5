/* A read-write lock whose waiting writers bar readers: a thread that reads twice waits for ever if
 * a writer comes in between, and an attempt to read fails as soon as one waits. */
#define _GNU_SOURCE
#include "outcome.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static volatile int attempt;

static void *reader(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
        attempt = 1;
        pthread_rwlock_unlock(&lock);
    }
    pthread_rwlock_rdlock(&lock);
    pthread_rwlock_unlock(&lock);
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *writer(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    run2(reader, writer);
    return attempt;
}
