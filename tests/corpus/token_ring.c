/* Token ring: three stations copy the token from their neighbour; the last thread checks the
 * order in which they did, which nothing enforces. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int x1 = 1, x2 = 2, x3 = 1;
static int moved1, moved2, moved3;

static void *station1(void *unused)
{
    pthread_mutex_lock(&lock);
    x1 = (x3 + 1) % 4;
    moved1 = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *station2(void *unused)
{
    pthread_mutex_lock(&lock);
    x2 = x1;
    moved2 = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *station3(void *unused)
{
    pthread_mutex_lock(&lock);
    x3 = x2;
    moved3 = 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *check(void *unused)
{
    pthread_mutex_lock(&lock);
    if (moved1 && moved2 && moved3)
        assert(x1 == x2 && x2 == x3);
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    void *(*roles[4])(void *) = {station1, station2, station3, check};
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        pthread_create(&threads[i], 0, roles[i], 0);
#ifdef FIXED
        pthread_join(threads[i], 0);
#endif
    }
#ifndef FIXED
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], 0);
#endif
    return 0;
}
