/* Spin lock: the ticket is drawn under the lock, but handed out after the lock was released and
 * taken again. */
#include <assert.h>
#include <pthread.h>

static pthread_spinlock_t lock;
static int next_ticket, drawn[2];

static void *draw(void *place)
{
    pthread_spin_lock(&lock);
    int mine = next_ticket;
#ifndef FIXED
    pthread_spin_unlock(&lock);
    pthread_spin_lock(&lock);
#endif
    next_ticket = mine + 1;
    drawn[(long)place] = mine;
    pthread_spin_unlock(&lock);
    return 0;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, 0, draw, (void *)0L);
    pthread_create(&b, 0, draw, (void *)1L);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(drawn[0] != drawn[1]);
    return 0;
}
