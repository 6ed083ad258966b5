/* Deadlock: a thread pool that counts idle workers; a task is announced only when somebody is idle,
 * and a worker calls itself idle after it has looked at the queue, not while. The last task then lies
 * in the queue and nobody is woken. The argument is the number of workers. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_is_there = PTHREAD_COND_INITIALIZER;
static pthread_cond_t all_done = PTHREAD_COND_INITIALIZER;
static int queued, idle, done, tasks, stopping;

static void add_task(void)
{
    pthread_mutex_lock(&lock);
    queued++;
    if (idle > 0)
        pthread_cond_signal(&work_is_there);
    pthread_mutex_unlock(&lock);
}

static void *work(void *unused)
{
    pthread_mutex_lock(&lock);
    for (;;) {
        while (queued == 0 && !stopping) {
#ifndef FIXED
            pthread_mutex_unlock(&lock);
            pthread_mutex_lock(&lock);
#endif
            idle++;
            pthread_cond_wait(&work_is_there, &lock);
            idle--;
        }
        if (queued == 0)
            break;
        queued--;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        if (++done == tasks)
            pthread_cond_signal(&all_done);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 2;
    pthread_t workers[8];
    tasks = 2 * n;
    for (int i = 0; i < n; i++)
        pthread_create(&workers[i], 0, work, 0);
    for (int i = 0; i < tasks; i++)
        add_task();
    pthread_mutex_lock(&lock);
    while (done < tasks)
        pthread_cond_wait(&all_done, &lock);
    stopping = 1;
    pthread_cond_broadcast(&work_is_there);
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < n; i++)
        pthread_join(workers[i], 0);
    return 0;
}
