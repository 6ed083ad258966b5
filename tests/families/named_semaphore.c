/* A named semaphore: the same name is the same semaphore, and goes with its last user. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>

#define NAME "/raddle-test-named"
static int inside;

static void *work(void *unused)
{
    sem_t *mine = sem_open(NAME, 0);
    (void)unused;
    assert(mine != SEM_FAILED);
    sem_wait(mine);
    assert(++inside == 1);
    sched_yield();
    inside--;
    sem_post(mine);
    sem_close(mine);
    return 0;
}

int main(void)
{
#ifdef FIXED
    unsigned places = 1;
#else
    unsigned places = 2;
#endif
    pthread_t a, b;
    sem_t *first = sem_open(NAME, O_CREAT | O_EXCL, 0600, places);
    assert(first != SEM_FAILED && sem_open(NAME, O_CREAT | O_EXCL, 0600, 1) == SEM_FAILED);
    assert(errno == EEXIST && sem_open(NAME "-other", 0) == SEM_FAILED && errno == ENOENT);
    pthread_create(&a, 0, work, 0);
    pthread_create(&b, 0, work, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sem_close(first) == 0 && sem_unlink(NAME) == 0 && sem_unlink(NAME) == -1);
    return 0;
}
