/* Circular buffer: the place to write to is chosen in one critical section and filled in another,
 * so that two producers may choose the same one. */
#include <assert.h>
#include <pthread.h>

enum { SIZE = 4 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int places[SIZE];
static unsigned head;

static void *produce(void *item)
{
    pthread_mutex_lock(&lock);
    unsigned at = head;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    places[at % SIZE] = (int)(long)item;
    head = at + 1;
    pthread_mutex_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_create(&a, 0, produce, (void *)1L);
    pthread_create(&b, 0, produce, (void *)2L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(head == 2 && places[0] + places[1] == 3);
    return 0;
}
