/* One use of most constructs, each with a known result: nothing is wrong here. Argument: how often. */
#include <assert.h>
#include <omp.h>
#include <stdlib.h>

static int fibonacci(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fibonacci(n - 1);
#pragma omp task shared(b)
    b = fibonacci(n - 2);
#pragma omp taskwait
    return a + b;
}

static void loops(void)
{
    int sum = 0, ordered = 0;
#pragma omp parallel for schedule(dynamic, 1) num_threads(3) reduction(+ : sum)
    for (int i = 0; i < 7; i++)
        sum += i;
    assert(sum == 21);
#pragma omp parallel for schedule(guided) num_threads(3)
    for (int i = 0; i < 7; i++)
#pragma omp atomic
        sum += i;
    assert(sum == 42);
#pragma omp parallel for ordered num_threads(2)
    for (int i = 0; i < 4; i++) {
#pragma omp ordered
        {
            assert(ordered == i);
            ordered++;
        }
    }
}

static void teams(void)
{
    int singles = 0, masters = 0, inner = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp single
        singles++;
#pragma omp barrier
#pragma omp master
        masters++;
#pragma omp barrier
        assert(singles == 1 && masters == 1);
    }
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
#pragma omp parallel num_threads(2)
#pragma omp critical(inner)
    inner++;
    assert(inner == 4);
}

static void locks(void)
{
    omp_nest_lock_t nest;
    omp_lock_t plain;
    int nested = 0, tried = 0;
    omp_init_nest_lock(&nest);
    omp_init_lock(&plain);
#pragma omp parallel num_threads(2)
    {
        omp_set_nest_lock(&nest);
        omp_set_nest_lock(&nest);
        nested++;
        omp_unset_nest_lock(&nest);
        omp_unset_nest_lock(&nest);
        while (!omp_test_lock(&plain)) {
        }
        tried++;
        omp_unset_lock(&plain);
    }
    assert(nested == 2 && tried == 2);
    omp_destroy_lock(&plain);
    omp_destroy_nest_lock(&nest);
}

int main(int argc, char **argv)
{
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--) {
        int result = 0;
        loops();
        teams();
        locks();
#pragma omp parallel num_threads(3)
#pragma omp single
        result = fibonacci(5);
        assert(result == 5);
    }
    return 0;
}
