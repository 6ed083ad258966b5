/* What main reads depends on the schedule. With -DBUG it minds. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static volatile int x;

static void *writer(void *unused)
{
    x = 2;
    return unused;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, writer, NULL);
    int seen = x;
    pthread_join(t, NULL);
    if (seen == 2) {
#ifdef BUG
        assert(!"it came early");
#endif
        puts("early");
    }
    return 0;
}
