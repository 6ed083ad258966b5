/* One thread waits in a loop for a flag that another sets. The bug: nobody sets it. */
#include <pthread.h>
#include <stdatomic.h>

static _Atomic int flag;
static int data;

static void *set(void *unused)
{
    data = 1;
#ifdef FIXED
    atomic_store(&flag, 1);
#endif
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (!atomic_load(&flag)) {
    }
    pthread_join(thread, 0);
    return data == 1 ? 0 : 1;
}
