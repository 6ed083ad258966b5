// One thread hands the other a pipe over a local socket, after a greeting. The bug: the receiver
// takes for granted that both come in one piece.
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int pair[2];

static void *give(void *argument) {
    int ends[2];
    char text[] = "take";
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {text, 4};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    assert(pipe(ends) == 0);
    assert(send(pair[0], "hey ", 4, 0) == 4);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &ends[0], sizeof(int));
    assert(sendmsg(pair[0], &message, 0) == 4);
    close(ends[0]);
    assert(write(ends[1], "!", 1) == 1);
    close(ends[1]);
    return argument;
}

static ssize_t receive(char *into, size_t room, int *fd) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {into, room};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = &control,
                             .msg_controllen = sizeof control};
    ssize_t n = recvmsg(pair[1], &message, 0);
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head)
        memcpy(fd, CMSG_DATA(head), sizeof(int));
    return n;
}

int main(void) {
    pthread_t giver;
    char text[16], mark;
    int fd = -1;
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pthread_create(&giver, NULL, give, NULL);
#ifdef FIXED
    for (ssize_t got = 0; got < 8 || fd < 0;)
        got += receive(text, sizeof text, &fd);
#else
    receive(text, sizeof text, &fd);
#endif
    assert(read(fd, &mark, 1) == 1 && mark == '!');
    assert(read(fd, &mark, 1) == 0);
    pthread_join(giver, NULL);
    return 0;
}
