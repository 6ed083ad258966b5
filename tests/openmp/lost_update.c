/* A sum in a parallel loop. The bug: the shared sum is updated without a reduction. */
#include <assert.h>

#define N 8

int main(void)
{
    int sum = 0;
#ifdef FIXED
#pragma omp parallel for num_threads(2) reduction(+ : sum)
#else
#pragma omp parallel for num_threads(2)
#endif
    for (int i = 0; i < N; i++)
        sum += i;
    assert(sum == N * (N - 1) / 2);
    return 0;
}
