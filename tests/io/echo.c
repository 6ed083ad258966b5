// A server on the loopback network with a thread for each connection, and two clients, in one
// process. The bug: what a connection's thread is given is the accepting loop's own variable, so
// two threads may serve the same connection while the other client waits for ever.
#include <arpa/inet.h>
#include <assert.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct sockaddr_in address;
static int listener;
static int connection;

static void *serve(void *argument) {
#ifdef FIXED
    int own = (int)(intptr_t)argument;
#else
    int own = connection;
    (void)argument;
#endif
    char buffer[16];
    ssize_t n;
    while ((n = recv(own, buffer, sizeof buffer, 0)) > 0)
        send(own, buffer, (size_t)n, MSG_NOSIGNAL);
    close(own);
    return NULL;
}

static void *server(void *argument) {
    pthread_t workers[2];
    for (int i = 0; i < 2; i++) {
        connection = accept(listener, NULL, NULL);
        assert(connection >= 0);
        pthread_create(&workers[i], NULL, serve, (void *)(intptr_t)connection);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(workers[i], NULL);
    return argument;
}

static void *client(void *argument) {
    const char *word = argument;
    char answer[16] = "";
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&address, sizeof address) == 0);
    assert(send(fd, word, strlen(word), 0) == (ssize_t)strlen(word));
    size_t got = 0;
    while (got < strlen(word)) {
        ssize_t n = recv(fd, answer + got, sizeof answer - got, 0);
        assert(n > 0);
        got += (size_t)n;
    }
    assert(strcmp(answer, word) == 0);
    close(fd);
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, (struct sockaddr *)&address, sizeof address) == 0);
    assert(listen(listener, 8) == 0);
    assert(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    pthread_create(&threads[0], NULL, server, NULL);
    pthread_create(&threads[1], NULL, client, "one");
    pthread_create(&threads[2], NULL, client, "two");
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    close(listener);
    return 0;
}
