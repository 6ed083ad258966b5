/* Makes threads in batches, all of a batch alive at once, and looks at its own memory. Arguments: batches,
   threads in a batch, MiB by which the memory may grow after the first batch. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_barrier_t together;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long total;

static void *work(void *unused)
{
    volatile char stack[20000];
    for (unsigned i = 0; i < sizeof stack; i += 512)
        stack[i] = 1;
    free(malloc(100));
    pthread_barrier_wait(&together);
    pthread_mutex_lock(&lock);
    total += stack[512];
    pthread_mutex_unlock(&lock);
    return unused;
}

static long resident_pages(void)
{
    long size = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &size, &resident) != 2)
        exit(2);
    fclose(file);
    return resident;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int batches = atoi(argv[1]), size = atoi(argv[2]);
    long most = atol(argv[3]) * 256, first = 0;
    pthread_t *threads = calloc(size, sizeof *threads);
    pthread_barrier_init(&together, NULL, size);
    for (int batch = 0; batch < batches; batch++) {
        for (int i = 0; i < size; i++)
            if (pthread_create(&threads[i], NULL, work, NULL) != 0)
                return 4;
        for (int i = 0; i < size; i++)
            pthread_join(threads[i], NULL);
        if (batch == 0)
            first = resident_pages();
    }
    long grown = resident_pages() - first;
    if (getenv("CHURN_SHOW") != NULL)
        printf("%d threads, grown by %ld KiB\n", batches * size, grown * 4);
    if (total != (long)batches * size)
        return 1;
    return grown > most ? 3 : 0;
}
