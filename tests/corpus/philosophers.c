/* Deadlock: each philosopher takes the left fork first, and all may hold one. In the fixed
 * version the last one takes the right fork first. The argument is how many there are. */
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t forks[16];
static int count = 3;

static void *dine(void *seat)
{
    int i = (int)(long)seat;
    int left = i, right = (i + 1) % count;
#ifdef FIXED
    if (left > right) {
        int swap = left;
        left = right;
        right = swap;
    }
#endif
    pthread_mutex_lock(&forks[left]);
    pthread_mutex_lock(&forks[right]);
    pthread_mutex_unlock(&forks[right]);
    pthread_mutex_unlock(&forks[left]);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t philosophers[16];
    if (argc > 1)
        count = atoi(argv[1]);
    for (int i = 0; i < count; i++)
        pthread_mutex_init(&forks[i], 0);
    for (int i = 0; i < count; i++)
        pthread_create(&philosophers[i], 0, dine, (void *)(long)i);
    for (int i = 0; i < count; i++)
        pthread_join(philosophers[i], 0);
    return 0;
}
