// A loop reads signals from a descriptor. The bug: it takes one signal for every one that was sent,
// but equal ones that are pending together are one.
#include <assert.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void *sender(void *argument) {
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR1);
    kill(getpid(), SIGUSR2);
    return argument;
}

int main(void) {
    pthread_t thread;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    pthread_create(&thread, NULL, sender, NULL);
    int ones = 0;
    for (;;) {
        struct signalfd_siginfo info;
        struct pollfd one = {.fd = fd, .events = POLLIN};
        assert(poll(&one, 1, -1) == 1);
        assert(read(fd, &info, sizeof info) == sizeof info);
        if (info.ssi_signo == SIGUSR2)
            break;
        assert(info.ssi_signo == SIGUSR1);
        ones++;
    }
#ifdef FIXED
    assert(ones == 1 || ones == 2);
#else
    assert(ones == 2);
#endif
    pthread_join(thread, NULL);
    return 0;
}
