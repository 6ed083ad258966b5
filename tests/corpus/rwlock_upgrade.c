/* Deadlock: a reader that finds the table empty asks for the write lock while it still holds the
 * read lock. */
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int entries;

static void *fill(void *unused)
{
    pthread_rwlock_wrlock(&lock);
    entries++;
    pthread_rwlock_unlock(&lock);
    return unused;
}

static void *look_up(void *unused)
{
    pthread_rwlock_rdlock(&lock);
    if (entries == 0) {
#ifdef FIXED
        pthread_rwlock_unlock(&lock);
#endif
        pthread_rwlock_wrlock(&lock);
        entries++;
    }
    pthread_rwlock_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t w, r;
    pthread_create(&w, 0, fill, 0);
    pthread_create(&r, 0, look_up, 0);
    pthread_join(w, 0);
    pthread_join(r, 0);
    return 0;
}
