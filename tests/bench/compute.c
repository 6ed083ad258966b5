/* Computation on memory that threads could share: the product of two matrices and a sort, done by
 * two threads on their own parts. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 160, SORTED = 200000 };

static double a[N][N], b[N][N], c[N][N];
static int numbers[2][SORTED];

static void sort(int *from, int *to)
{
    while (to - from > 1) {
        int pivot = from[(to - from) / 2];
        int *left = from, *right = to - 1;
        while (left <= right) {
            while (*left < pivot)
                left++;
            while (*right > pivot)
                right--;
            if (left <= right) {
                int swap = *left;
                *left++ = *right;
                *right-- = swap;
            }
        }
        sort(from, right + 1);
        from = left;
    }
}

static void *work(void *half)
{
    int h = (int)(long)half;
    for (int i = h * N / 2; i < (h + 1) * N / 2; i++)
        for (int j = 0; j < N; j++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
    sort(numbers[h], numbers[h] + SORTED);
    return 0;
}

int main(void)
{
    unsigned state = 1;
    pthread_t t[2];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            a[i][j] = i + j;
            b[i][j] = i - j;
        }
    for (int h = 0; h < 2; h++)
        for (int i = 0; i < SORTED; i++)
            numbers[h][i] = (int)((state = state * 1103515245u + 12345u) >> 8);
    for (int h = 0; h < 2; h++)
        pthread_create(&t[h], 0, work, (void *)(long)h);
    for (int h = 0; h < 2; h++)
        pthread_join(t[h], 0);
    for (int h = 0; h < 2; h++)
        for (int i = 1; i < SORTED; i++)
            if (numbers[h][i - 1] > numbers[h][i])
                return 1;
    printf("%g\n", c[N - 1][N - 1]);
    return 0;
}
