/* Two accounts and a transfer in each direction. The bug: the locks are taken in two orders. */
#include <omp.h>

static omp_lock_t locks[2];
static int money[2] = {10, 10};

static void transfer(int from, int to)
{
#ifdef FIXED
    int first = from < to ? from : to, second = from < to ? to : from;
#else
    int first = from, second = to;
#endif
    omp_set_lock(&locks[first]);
    omp_set_lock(&locks[second]);
    money[from]--;
    money[to]++;
    omp_unset_lock(&locks[second]);
    omp_unset_lock(&locks[first]);
}

int main(void)
{
    omp_init_lock(&locks[0]);
    omp_init_lock(&locks[1]);
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        transfer(0, 1);
#pragma omp section
        transfer(1, 0);
    }
    omp_destroy_lock(&locks[0]);
    omp_destroy_lock(&locks[1]);
    return money[0] + money[1] == 20 ? 0 : 1;
}
