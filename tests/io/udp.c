// Requests and answers as datagrams between two threads. The bug: the client takes the first
// datagram that comes for the answer to its last request.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

static struct sockaddr_in address;
static int server_socket;

static void *server(void *argument) {
    for (;;) {
        struct sockaddr_in from;
        socklen_t size = sizeof from;
        int number;
        ssize_t n = recvfrom(server_socket, &number, sizeof number, 0, (struct sockaddr *)&from, &size);
        assert(n == sizeof number);
        if (number < 0)
            return argument;
        number *= 10;
        sendto(server_socket, &number, sizeof number, 0, (struct sockaddr *)&from, size);
    }
}

int main(void) {
    pthread_t thread;
    socklen_t size = sizeof address;
    struct timeval limit = {.tv_usec = 100000};
    server_socket = socket(AF_INET, SOCK_DGRAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(server_socket, (struct sockaddr *)&address, sizeof address) == 0);
    assert(getsockname(server_socket, (struct sockaddr *)&address, &size) == 0);
    pthread_create(&thread, NULL, server, NULL);

    int fd = socket(AF_INET, SOCK_DGRAM, 0), answer = 0;
    assert(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    assert(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
    for (int request = 1; request <= 2; request++) {
        // After a time-out the request is sent again.
        do
            assert(send(fd, &request, sizeof request, 0) == sizeof request);
        while (recv(fd, &answer, sizeof answer, 0) < 0);
#ifdef FIXED
        while (answer != 10 * request)
            if (recv(fd, &answer, sizeof answer, 0) < 0)
                send(fd, &request, sizeof request, 0);
#endif
        assert(answer == 10 * request);
    }
    int end = -1;
    send(fd, &end, sizeof end, 0);
    pthread_join(thread, NULL);
    return 0;
}
