// A server answers three requests, a client sends four before it reads an answer, and both queues are
// short. Fixed: the client reads an answer before it sends the next request.
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static mqd_t requests, answers;

static mqd_t queue(const char *what) {
    struct mq_attr wanted = {.mq_maxmsg = 1, .mq_msgsize = 1};
    char name[32];
    snprintf(name, sizeof name, "/%s-%d", what, (int)getpid());
    mqd_t made = mq_open(name, O_CREAT | O_RDWR, 0600, &wanted);
    if (made < 0 || mq_unlink(name))
        exit(2);
    return made;
}

static void *serve(void *unused) {
    char byte;
    for (int i = 0; i < 3; i++) {
        mq_receive(requests, &byte, 1, 0);
        mq_send(answers, &byte, 1, 0);
    }
    return unused;
}

int main(void) {
    char byte = 0;
    pthread_t server;
    requests = queue("requests");
    answers = queue("answers");
    pthread_create(&server, 0, serve, 0);
#ifdef FIXED
    for (int i = 0; i < 3; i++) {
        mq_send(requests, &byte, 1, 0);
        mq_receive(answers, &byte, 1, 0);
    }
#else
    for (int i = 0; i < 4; i++)
        mq_send(requests, &byte, 1, 0);
    for (int i = 0; i < 4; i++)
        mq_receive(answers, &byte, 1, 0);
#endif
    return pthread_join(server, 0);
}
