/* Main counts the rounds in which it waits, so that no round is like another one. */
#include <assert.h>
#include <pthread.h>

static int flag, data;

static void *sets(void *unused)
{
#ifdef FIXED
    data = 1;
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
#else
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    data = 1;
#endif
    return unused;
}

int main(void)
{
    pthread_t other;
    pthread_create(&other, 0, sets, 0);
    volatile int count = 0;
    while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE))
        count++;
    assert(data == 1);
    pthread_join(other, 0);
    return 0;
}
