/* A reader and a writer under a read-write lock: the reader sees both values or none. */
#include "outcome.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int x, y, seen;

static void *reader(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    seen = x + y * 2;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *writer(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    x = 1;
    y = 1;
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    run2(reader, writer);
    return seen;
}
