/* Order: the parent fills in a pointer after it has created the thread that follows it. */
#include <pthread.h>

static int value = 7;
static int *volatile pointer;

static void *use(void *unused)
{
    return *pointer == 7 ? 0 : unused;
}

int main(void)
{
    pthread_t t;
#ifdef FIXED
    pointer = &value;
    pthread_create(&t, 0, use, 0);
#else
    pthread_create(&t, 0, use, 0);
    pointer = &value;
#endif
    pthread_join(t, 0);
    return 0;
}
