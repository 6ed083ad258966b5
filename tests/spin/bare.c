/* Three threads take turns by loops of loads that no hook sees: nothing of them is a call.
 * WRONG: the exit status is 1 in every schedule. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

enum { THREADS = 3, ROUNDS = 2 };

static atomic_int turn;
static int taken;

static void *work(void *number)
{
    int me = (int)(intptr_t)number;
    for (int round = 0; round < ROUNDS; round++) {
        while (turn != me)
            __builtin_ia32_pause();
        taken++;
        turn = (me + 1) % THREADS;
    }
    return 0;
}

int main(void)
{
    pthread_t t[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&t[i], 0, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(t[i], 0);
#ifdef WRONG
    taken++;
#endif
    return taken != THREADS * ROUNDS;
}
