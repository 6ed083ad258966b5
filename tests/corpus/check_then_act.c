/* Atomicity: the last seat is sold twice, since the check and the sale are two critical
 * sections. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int seats = 1;

static void *sell(void *unused)
{
    pthread_mutex_lock(&lock);
    int free_seats = seats;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (free_seats > 0)
        seats--;
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t agents[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&agents[i], 0, sell, 0);
    for (int i = 0; i < 2; i++)
        pthread_join(agents[i], 0);
    assert(seats >= 0);
    return 0;
}
