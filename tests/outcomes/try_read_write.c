/* Attempts at a read-write lock: whether they succeed depends on who is inside. */
#include "outcome.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static volatile int reads, writes;

static void *reader(void *unused)
{
    if (pthread_rwlock_tryrdlock(&lock) == 0) {
        reads++;
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

static void *writer(void *unused)
{
    if (pthread_rwlock_trywrlock(&lock) == 0) {
        writes++;
        pthread_rwlock_unlock(&lock);
    }
    return unused;
}

int main(void)
{
    run2(reader, writer);
    return reads * 10 + writes;
}
