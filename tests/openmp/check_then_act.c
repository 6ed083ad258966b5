/* Tickets are sold by a team of threads. The bug: the check and the sale are two critical sections. */
#include <assert.h>

static int left = 1, sold;

int main(void)
{
#pragma omp parallel num_threads(3)
    {
        int available;
#ifdef FIXED
#pragma omp critical(tickets)
        {
            available = left > 0;
            if (available) {
                left--;
                sold++;
            }
        }
#else
#pragma omp critical(tickets)
        available = left > 0;
        if (available) {
#pragma omp critical(tickets)
            {
                left--;
                sold++;
            }
        }
#endif
    }
    assert(sold == 1);
    return 0;
}
