/* Parallel quicksort with a lost wake-up: a worker that finds no range to sort decides to wait in
 * one critical section and waits in another, so that the only signal may come in between. */
#include <assert.h>
#include <pthread.h>

enum { SIZE = 8, WORKERS = 2 };
static int numbers[SIZE] = {5, 2, 7, 1, 8, 3, 6, 4};
static struct { int from, to; } ranges[2 * SIZE];
static int depth, unsorted = SIZE;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t more = PTHREAD_COND_INITIALIZER;

static void push(int from, int to)
{
    if (from >= to)
        return;
    pthread_mutex_lock(&lock);
    ranges[depth].from = from;
    ranges[depth++].to = to;
    pthread_cond_signal(&more);
    pthread_mutex_unlock(&lock);
}

/* How many numbers have reached their place. */
static void done(int n)
{
    pthread_mutex_lock(&lock);
    unsorted -= n;
    if (unsorted == 0)
        pthread_cond_broadcast(&more);
    pthread_mutex_unlock(&lock);
}

/* 0: everything is sorted. */
static int pop(int *from, int *to)
{
    pthread_mutex_lock(&lock);
    while (depth == 0 && unsorted > 0) {
#ifndef FIXED
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
#endif
        pthread_cond_wait(&more, &lock);
    }
    int got = depth > 0;
    if (got) {
        *from = ranges[--depth].from;
        *to = ranges[depth].to;
    }
    pthread_mutex_unlock(&lock);
    return got;
}

static void swap(int i, int j)
{
    int t = numbers[i];
    numbers[i] = numbers[j];
    numbers[j] = t;
}

static void *work(void *unused)
{
    int from, to;
    while (pop(&from, &to)) {
        int middle = from;
        for (int i = from; i < to - 1; i++)
            if (numbers[i] < numbers[to - 1])
                swap(i, middle++);
        swap(middle, to - 1);
        push(from, middle);
        push(middle + 1, to);
        done(1);
    }
    return unused;
}

int main(void)
{
    pthread_t workers[WORKERS];
    push(0, SIZE);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], 0, work, 0);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], 0);
    for (int i = 0; i < SIZE; i++)
        assert(numbers[i] == i + 1);
    return 0;
}
