// A reactor waits in epoll for an eventfd by which others wake it. The bug: it resets the wake-up
// after it has looked at the queue, so that what was queued in between is never seen.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { ITEMS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int queued, wake;

static int take_all(void) {
    pthread_mutex_lock(&lock);
    int n = queued;
    queued = 0;
    pthread_mutex_unlock(&lock);
    return n;
}

static void *submit(void *argument) {
    pthread_mutex_lock(&lock);
    queued++;
    pthread_mutex_unlock(&lock);
    uint64_t one = 1;
    assert(write(wake, &one, sizeof one) == sizeof one);
    return argument;
}

int main(void) {
    pthread_t threads[ITEMS];
    int reactor = epoll_create1(EPOLL_CLOEXEC);
    wake = eventfd(0, EFD_NONBLOCK);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = wake};
    assert(epoll_ctl(reactor, EPOLL_CTL_ADD, wake, &event) == 0);
    for (int i = 0; i < ITEMS; i++)
        pthread_create(&threads[i], NULL, submit, NULL);
    for (int handled = 0; handled < ITEMS;) {
        struct epoll_event got;
        uint64_t count;
        assert(epoll_wait(reactor, &got, 1, -1) == 1);
#ifdef FIXED
        assert(read(wake, &count, sizeof count) == sizeof count);
        handled += take_all();
#else
        handled += take_all();
        assert(read(wake, &count, sizeof count) == sizeof count);
#endif
    }
    for (int i = 0; i < ITEMS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
