/* Two threads wait for a turn; one signal each: which of them the first signal wakes is a choice. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static volatile int waiting, turns, order;

static void *waiter(void *name)
{
    pthread_mutex_lock(&lock);
    waiting++;
    while (!turns)
        pthread_cond_wait(&turn, &lock);
    turns--;
    order = order * 3 + (int)(long)name;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, waiter, (void *)1L);
    pthread_create(&t, NULL, waiter, (void *)2L);
    pthread_mutex_lock(&lock);
    int seen = waiting;
    turns = 2;
    pthread_cond_signal(&turn);
    pthread_cond_signal(&turn);
    pthread_mutex_unlock(&lock);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return seen * 10 + order;
}
