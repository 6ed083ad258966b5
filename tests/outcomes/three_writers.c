/* Three threads write: the last one wins. */
#include "outcome.h"

static volatile int x;

static void *write(void *value)
{
    x = (int)(long)value;
    return NULL;
}

int main(void)
{
    pthread_t s, t;
    pthread_create(&s, NULL, write, (void *)1L);
    pthread_create(&t, NULL, write, (void *)2L);
    x = 3;
    pthread_join(s, NULL);
    pthread_join(t, NULL);
    return x;
}
