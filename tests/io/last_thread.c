/* A child writes late: main waits for it when the other thread ends. */
#include <assert.h>
#include <pthread.h>
#include <unistd.h>

static void *ends(void *unused)
{
    return unused;
}

int main(void)
{
    int pipe_ends[2];
    char byte;
    pthread_t thread;
    assert(!pipe(pipe_ends));
    if (fork() == 0) {
        usleep(50000);
        _exit(write(pipe_ends[1], "x", 1) != 1);
    }
    assert(!pthread_create(&thread, 0, ends, 0));
    assert(read(pipe_ends[0], &byte, 1) == 1);
    assert(!pthread_join(thread, 0));
    return 0;
}
