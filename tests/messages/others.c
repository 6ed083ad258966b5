// A thread tells main something by a descriptor, in ways that `verify` does not follow.
#include <stddef.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

void raddle_symbolic(void *at, size_t len, const char *name);

static int ends[2];

static void *tell(void *unused) {
#if defined(SEMAPHORE)
    uint64_t two = 2;
    (void)!write(ends[1], &two, sizeof two);
#elif defined(MUCH)
    static char many[1000];
    for (int i = 0; i < 5; i++)
        (void)!write(ends[1], many, sizeof many);
#elif defined(WIDE)
    static char many[2000];
    (void)!write(ends[1], many, sizeof many);
#else
    char c = 'x';
#ifdef INPUT
    raddle_symbolic(&c, 1, "c");
#endif
    (void)!write(ends[1], &c, 1);
#ifdef CLOSES
    close(ends[1]);
#endif
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    char c[8];
#if defined(PAIR)
    socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
#elif defined(SEMAPHORE)
    ends[0] = ends[1] = eventfd(0, EFD_SEMAPHORE);
#else
    (void)!pipe(ends);
#endif
#ifdef NO_WAITING
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
#endif
    pthread_create(&thread, 0, tell, 0);
#ifdef STREAM
    c[0] = (char)fgetc(fdopen(ends[0], "r"));
#else
    (void)!read(ends[0], c, sizeof c);
#ifdef CLOSES
    (void)!read(ends[0], c, sizeof c);
#endif
#endif
    pthread_join(thread, 0);
    return 0;
}
