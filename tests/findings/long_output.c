// Much is printed (an argument says how many KiB), and then which of two threads came first.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int first;

static void *come(void *number) {
    pthread_mutex_lock(&mutex);
    if (!first)
        first = *(int *)number;
    pthread_mutex_unlock(&mutex);
    return 0;
}

int main(int argc, char **argv) {
    static char line[1024];
    int one = 1, two = 2;
    pthread_t threads[2];
    pthread_create(&threads[0], 0, come, &one);
    pthread_create(&threads[1], 0, come, &two);
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
    memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (int i = argc > 1 ? atoi(argv[1]) : 0; i > 0; i--)
        fwrite(line, 1, sizeof line, stdout);
    printf("%d\n", first);
    return 0;
}
