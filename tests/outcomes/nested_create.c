/* A child creates a grandchild; both and main leave a digit in the order in which they come. */
#include "outcome.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int digits;

static void leave(int digit)
{
    pthread_mutex_lock(&lock);
    digits = digits * 4 + digit;
    pthread_mutex_unlock(&lock);
}

static void *grandchild(void *unused)
{
    leave(3);
    return unused;
}

static void *child(void *unused)
{
    pthread_t t;
    pthread_create(&t, NULL, grandchild, NULL);
    leave(2);
    pthread_join(t, NULL);
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, child, NULL);
    leave(1);
    pthread_join(t, NULL);
    return digits;
}
