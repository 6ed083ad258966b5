/* A long start before there are threads: memory, output with and without a buffer, half of the
 * standard input. Then two threads count under a lock. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SIZE = 8 << 20 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int count;
static char *memory;

static void *work(void *name)
{
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&lock);
        int before = count;
        pthread_mutex_unlock(&lock);
        pthread_mutex_lock(&lock);
        count = before + 1;
        memory[count] = 'x';
        pthread_mutex_unlock(&lock);
    }
    printf("%s is done\n", (char *)name);
    return 0;
}

int main(void)
{
    char head[4] = "", tail[4] = "";
    memory = malloc(SIZE);
    memset(memory, 'a', SIZE);
    long sum = 0;
    for (int i = 0; i < SIZE; i += 8)
        sum += memory[i];
    if (read(0, head, 3) < 0)
        return 1;
    dprintf(1, "at once: %ld %s\n", sum, head);
    dprintf(2, "an error\n");
    printf("buffered\n");
    pthread_t s, t;
    pthread_create(&s, 0, work, "one");
    pthread_create(&t, 0, work, "two");
    pthread_join(s, 0);
    pthread_join(t, 0);
    if (read(0, tail, 3) < 0)
        return 1;
    printf("%d %c%c %s %d\n", count, memory[1], memory[4], tail, getpid() == getppid());
    return count == 4 ? 0 : 3;
}
