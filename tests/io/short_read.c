// A message of eight bytes comes in one write, and is read in one read. The bug: a read may be cut
// short by a signal, or interrupted, which happens in runs with --faults only.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

static int ends[2];

static void *writer(void *argument) {
    uint64_t message = 0x1122334455667788;
#ifdef FIXED
    const char *at = (const char *)&message;
    for (size_t done = 0; done < sizeof message;) {
        ssize_t n = write(ends[1], at + done, sizeof message - done);
        assert(n > 0 || errno == EINTR);
        done += n > 0 ? (size_t)n : 0;
    }
#else
    ssize_t n;
    do
        n = write(ends[1], &message, sizeof message);
    while (n < 0 && errno == EINTR);
#endif
    close(ends[1]);
    return argument;
}

int main(void) {
    pthread_t thread;
    uint64_t message = 0;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, writer, NULL);
    size_t got = 0;
#ifdef FIXED
    while (got < sizeof message) {
#endif
        ssize_t n = read(ends[0], (char *)&message + got, sizeof message - got);
        assert(n > 0 || errno == EINTR);
        got += n > 0 ? (size_t)n : 0;
#ifdef FIXED
    }
#endif
    assert(got == sizeof message && message == 0x1122334455667788);
    pthread_join(thread, NULL);
    return 0;
}
