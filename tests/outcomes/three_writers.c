/* Three threads write: the last one wins. */
#include "outcome.h"

static int x;

static void *write(void *value)
{
    x = (int)(long)value;
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, write, (void *)(i + 1));
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    return x;
}
