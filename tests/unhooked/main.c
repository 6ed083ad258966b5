/* Two threads count in a function that lies elsewhere. */
#include <assert.h>
#include <pthread.h>

void increment(void);
int count(void);

static void *work(void *unused)
{
    increment();
    return unused;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, 0, work, 0);
    pthread_create(&t, 0, work, 0);
    pthread_join(s, 0);
    pthread_join(t, 0);
    assert(count() == 2);
    return 0;
}
