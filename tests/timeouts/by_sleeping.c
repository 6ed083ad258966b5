// Sleeps in a row are a timed wait made by hand. "poll" looks for half a second whether a flag is set,
// for which the other thread needs a step; "watchdog" aborts after ten seconds; in "jitter" two threads
// sleep between the steps by which they lose an update.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_int flag, count;

static void *set(void *unused)
{
    usleep(1000);
    flag = 1;
    return unused;
}

static void *watch(void *unused)
{
    for (int i = 0; i < 10; i++) {
        sleep(1);
        if (flag)
            return unused;
    }
    abort();
}

static void *add(void *unused)
{
    for (int i = 0; i < 3; i++) {
        usleep(100);
        int old = count;
        usleep(100);
        count = old + 1;
    }
    return unused;
}

int main(int argc, char **argv)
{
    const char *how = argv[1];
    pthread_t one, two;
    if (!strcmp(how, "poll")) {
        pthread_create(&one, 0, set, 0);
        for (int i = 0; i < 50 && !flag; i++)
            usleep(10000);
        assert(flag);
        pthread_join(one, 0);
    } else if (!strcmp(how, "watchdog")) {
        pthread_create(&one, 0, watch, 0);
        pthread_create(&two, 0, set, 0);
        pthread_join(two, 0);
        pthread_join(one, 0);
    } else {
        pthread_create(&one, 0, add, 0);
        pthread_create(&two, 0, add, 0);
        pthread_join(one, 0);
        pthread_join(two, 0);
        assert(count == 6);
    }
    return 0;
}
