// A descriptor is closed while another thread uses it. CASE says which. Fixed: after the join. The
// last three are right either way: what keeps them in order goes through the descriptors.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef CASE
#define CASE 0
#endif

static int ends[2];

static void *use(void *unused) {
    char byte = 'x';
    uint64_t one = 1;
    int given;
    switch (CASE) {
    case 0: if (write(ends[1], &byte, 1)) {} break;
    case 1: if (read(ends[0], &byte, 1)) {} break;
    case 2: if (send(ends[1], &byte, 1, MSG_NOSIGNAL)) {} break;
    case 3: if (write(ends[0], &one, sizeof one)) {} break;
    case 4: close(ends[1]); break;
    case 5: shutdown(ends[1], SHUT_WR); break;
    // The other end hears of the end of the data.
    case 6: while (read(ends[0], &byte, 1) > 0) {} close(ends[0]); break;
    // A descriptor is handed over through a pipe.
    case 7: if (read(ends[0], &given, sizeof given) == sizeof given) close(given); break;
    // A number is used again.
    case 8: given = eventfd(0, 0); if (write(given, &one, sizeof one)) {} close(given); break;
    }
    return unused;
}

static void end(void) {
    uint64_t one = 1;
    int given;
    switch (CASE) {
    case 0: case 2: case 4: case 5: close(ends[1]); break;
    case 1: case 3: close(ends[0]); break;
    case 6: if (write(ends[1], "ab", 2)) {} close(ends[1]); break;
    case 7:
        given = eventfd(0, 0);
        if (write(given, &one, sizeof one)) {}
        if (write(ends[1], &given, sizeof given)) {}
        break;
    case 8: given = eventfd(0, 0); if (write(given, &one, sizeof one)) {} close(given); break;
    }
}

int main(void) {
    pthread_t user;
    int result = 0;
    switch (CASE) {
    case 2: case 5: result = socketpair(AF_UNIX, SOCK_STREAM, 0, ends); break;
    case 3: ends[0] = eventfd(0, 0); break;
    default: result = pipe(ends); break;
    }
    if (CASE == 1 && write(ends[1], "y", 1) != 1)
        return 2;
    pthread_create(&user, 0, use, 0);
#ifdef FIXED
    if (CASE < 6)
        pthread_join(user, 0);
    end();
    if (CASE >= 6)
        pthread_join(user, 0);
#else
    end();
    pthread_join(user, 0);
#endif
    return result;
}
