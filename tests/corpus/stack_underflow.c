/* Atomicity: a consumer asks whether the stack is empty and pops in another critical section. */
#include <assert.h>
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int top;

static void *push(void *unused)
{
    pthread_mutex_lock(&lock);
    top++;
    pthread_mutex_unlock(&lock);
    return unused;
}

static void *pop(void *unused)
{
    pthread_mutex_lock(&lock);
    int filled = top > 0;
#ifndef FIXED
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
#endif
    if (filled) {
        top--;
        assert(top >= 0);
    }
    pthread_mutex_unlock(&lock);
    return unused;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, 0, push, 0);
    pthread_create(&b, 0, pop, 0);
    pthread_create(&c, 0, pop, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    pthread_join(c, 0);
    return 0;
}
