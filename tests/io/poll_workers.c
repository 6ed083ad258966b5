// Two workers poll one pipe for work. The bug: a worker that was told that there is something to
// read reads without minding that the other may have been quicker, and then never ends.
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <unistd.h>

static int work[2], stop[2];

static void *worker(void *argument) {
    struct pollfd fds[2] = {{.fd = work[0], .events = POLLIN}, {.fd = stop[0], .events = POLLIN}};
    for (;;) {
        char item;
        assert(poll(fds, 2, -1) > 0);
        if (fds[0].revents & POLLIN) {
            if (read(work[0], &item, 1) == 1 && item == 'x')
                write(stop[1], "ss", 2);
        } else if (fds[1].revents & POLLIN) {
            assert(read(stop[0], &item, 1) == 1);
            return argument;
        }
    }
}

int main(void) {
    pthread_t threads[2];
    assert(pipe(work) == 0 && pipe(stop) == 0);
#ifdef FIXED
    fcntl(work[0], F_SETFL, O_NONBLOCK);
#endif
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, worker, NULL);
    assert(write(work[1], "x", 1) == 1);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
