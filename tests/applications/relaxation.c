/* Successive over-relaxation on a row of numbers, warm at one end (how warm is an input): red and
 * black places are renewed in turns, with a barrier of the program's own between them; a sweep that
 * has changed nothing is the last one.
 *
 * -DBUG=1: arrivals at the barrier are counted without its lock. -DBUG=2: there is no barrier
 * between red and black. -DBUG=4: the mark that something has changed is taken back after the
 * barrier, when another thread may have set it already. */
#include "../../examples/include/raddle.h"
#include <assert.h>
#include <pthread.h>

#ifndef BUG
#define BUG 0
#endif

enum { THREADS = 2, PLACES = 6, SWEEPS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t all_there = PTHREAD_COND_INITIALIZER;
static volatile int arrived, round_of_barrier;
static volatile int place[PLACES], changed[SWEEPS];

static void barrier(void)
{
    if (BUG & 1) {
        int now = arrived + 1;
        arrived = now;
    }
    pthread_mutex_lock(&lock);
    int mine = round_of_barrier;
    if (!(BUG & 1))
        arrived = arrived + 1;
    if (arrived == THREADS) {
        arrived = 0;
        round_of_barrier = mine + 1;
        pthread_cond_broadcast(&all_there);
    }
    while (mine == round_of_barrier)
        pthread_cond_wait(&all_there, &lock);
    pthread_mutex_unlock(&lock);
}

static int renew(int at)
{
    int before = place[at];
    place[at] = (place[at - 1] + place[at + 1]) / 2;
    return place[at] != before;
}

/* Thread 0 has places 1 and 2, thread 1 places 3 and 4; odd ones are red. */
static void *relax(void *argument)
{
    int first = 1 + 2 * (int)(long)argument;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        int any = renew(first);
        if (!(BUG & 2))
            barrier();
        any |= renew(first + 1);
        if (BUG & 4) {
            barrier();
            if (first == 1)
                changed[sweep] = 0;
        }
        if (any)
            changed[sweep] = 1;
        barrier();
        if (!changed[sweep])
            break;
    }
    return 0;
}

int main(void)
{
    pthread_t threads[THREADS];
    unsigned char warmth;
    raddle_symbolic(&warmth, sizeof warmth, "warmth");
    const int edge = 64 + warmth;
    place[PLACES - 1] = edge;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], 0, relax, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], 0);
    /* What one thread alone would have. */
    int alone[PLACES] = {[PLACES - 1] = edge}, any = 1;
    for (int sweep = 0; sweep < SWEEPS && any; sweep++) {
        any = 0;
        for (int colour = 1; colour <= 2; colour++) {
            for (int at = colour; at < PLACES - 1; at += 2) {
                int value = (alone[at - 1] + alone[at + 1]) / 2;
                any |= value != alone[at];
                alone[at] = value;
            }
        }
    }
    for (int at = 0; at < PLACES; at++)
        assert(place[at] == alone[at]);
    return 0;
}
