/* A failure that shows only in the exit status: the program notices that it lost an update and
 * ends with 3. */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int votes;

static void *vote(void *unused)
{
    pthread_mutex_lock(&lock);
    int seen = votes;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    votes = seen + 1;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, vote, 0);
    pthread_create(&b, 0, vote, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return votes == 2 ? 0 : 3;
}
