// Asks another process, which listens at the path in the first argument, what the answer is; a
// thread of its own counts meanwhile. Then serves it: a pipe tells when the count is over.
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int ends[2];

static void *count(void *argument) {
    for (int i = 0; i < 3; i++)
        assert(write(ends[1], "c", 1) == 1);
    close(ends[1]);
    return argument;
}

int main(int argc, char **argv) {
    pthread_t thread;
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    char answer[16] = "", c;
    assert(argc == 2 && strlen(argv[1]) < sizeof name.sun_path);
    strcpy(name.sun_path, argv[1]);
    assert(pipe(ends) == 0);
    pthread_create(&thread, NULL, count, NULL);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert(connect(fd, (struct sockaddr *)&name, sizeof name) == 0);
    assert(send(fd, "question\n", 9, 0) == 9);
    for (size_t got = 0; got < 7;) {
        ssize_t n = recv(fd, answer + got, sizeof answer - got, 0);
        assert(n > 0);
        got += (size_t)n;
    }
    assert(strcmp(answer, "answer\n") == 0);
    int counted = 0;
    while (read(ends[0], &c, 1) == 1)
        counted++;
    assert(counted == 3);
    pthread_join(thread, NULL);
    return 0;
}
