// A thread waits for a reply with a time-out of a second, which passes at once. The bug: it does
// not expect that the reply comes after the time-out, when its buffer is gone.
#include <assert.h>
#include <pthread.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

static int ends[2];
static int gave_up;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *reply(void *argument) {
    struct timespec tenth = {.tv_nsec = 100000000};
    nanosleep(&tenth, NULL);
    pthread_mutex_lock(&lock);
#ifdef FIXED
    if (!gave_up)
#else
    assert(!gave_up);
#endif
        assert(write(ends[1], "r", 1) == 1);
    pthread_mutex_unlock(&lock);
    return argument;
}

int main(void) {
    pthread_t thread;
    struct timeval limit = {.tv_sec = 1};
    fd_set set;
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, reply, NULL);
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
    int n = select(ends[0] + 1, &set, NULL, NULL, &limit);
    pthread_mutex_lock(&lock);
    if (n == 0) {
        assert(!FD_ISSET(ends[0], &set));
        gave_up = 1;
    } else {
        char c;
        assert(n == 1 && FD_ISSET(ends[0], &set) && read(ends[0], &c, 1) == 1);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    return 0;
}
