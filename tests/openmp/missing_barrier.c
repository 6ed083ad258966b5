/* Every thread writes its cell, then reads its neighbour's. The bug: no barrier between the two. */
#include <assert.h>
#include <omp.h>

static int cells[3];

int main(void)
{
#pragma omp parallel num_threads(3)
    {
        int me = omp_get_thread_num();
#pragma omp critical(cells)
        cells[me] = me + 1;
#ifdef FIXED
#pragma omp barrier
#endif
        int next = (me + 1) % 3, seen;
#pragma omp critical(cells)
        seen = cells[next];
        assert(seen == next + 1);
    }
    return 0;
}
