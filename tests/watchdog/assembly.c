/* A lock of inline assembly, which is only counted. */
#include <pthread.h>

static volatile int lock, shared;

static void add(void)
{
    int taken;
    do {
        taken = 1;
        asm volatile("xchg %0, %1" : "+r"(taken), "+m"(lock) : : "memory");
    } while (taken);
    shared++;
    asm volatile("movl $0, %0" : "=m"(lock) : : "memory");
}

static void *work(void *unused)
{
    add();
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    add();
    pthread_join(thread, 0);
    return shared == 2 ? 0 : 1;
}
