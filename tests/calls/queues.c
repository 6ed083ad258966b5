/* Message queues and sets of semaphores: of POSIX and of System V. */
#define _GNU_SOURCE
#include "calls.h"
#include <fcntl.h>
#include <mqueue.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>

static mqd_t queue;
static int set, messages;
static sem_t told;

/* A name that no other process uses at the same time. */
static const char *name(void)
{
    static char text[32];
    snprintf(text, sizeof text, "/calls-%d", (int)getpid());
    return text;
}

static mqd_t make_queue(int capacity, int flags)
{
    struct mq_attr wanted = {.mq_maxmsg = capacity, .mq_msgsize = 4};
    mqd_t made = mq_open(name(), O_CREAT | O_EXCL | O_RDWR | flags, 0600, &wanted);
    check(made >= 0 && !mq_unlink(name()));
    return made;
}

static int taken(void)
{
    char got[4];
    return mq_receive(queue, got, sizeof got, 0) == 1 ? got[0] : -1;
}

static void put(int what, unsigned priority)
{
    char byte = what;
    check(!mq_send(queue, &byte, 1, priority));
}

static struct timespec in_a_second(void)
{
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec++;
    return at;
}

static void *puts_one(void *argument)
{
    put((int)(long)argument, 1);
    return 0;
}

static void *puts_three(void *argument)
{
    for (int i = 1; i <= 3; i++)
        put(i, 0);
    return argument;
}

/* The first of two that two threads put. */
static int put_by_two(void)
{
    queue = make_queue(2, 0);
    pthread_t one = start(puts_one, (void *)1), two = start(puts_one, (void *)2);
    int first = taken();
    taken();
    check(!pthread_join(one, 0) && !pthread_join(two, 0));
    return first;
}

/* One that is urgent overtakes the others, if it comes in time. */
static int urgent(void)
{
    queue = make_queue(2, 0);
    put(5, 0);
    pthread_t thread = start(puts_one, (void *)7);
    int first = taken();
    check(taken() == 12 - first && !pthread_join(thread, 0));
    return first;
}

static int full(void)
{
    queue = make_queue(1, 0);
    pthread_t thread = start(puts_three, 0);
    int all = 0;
    for (int i = 0; i < 3; i++)
        all = all * 4 + taken();
    return pthread_join(thread, 0) ? 99 : all;
}

static int timed(void)
{
    char got[4];
    struct timespec until = in_a_second(), wrong = {0, 2000000000};
    queue = make_queue(1, 0);
    check(mq_timedreceive(queue, got, 4, 0, &wrong) == -1 && errno == EINVAL);
    pthread_t thread = start(puts_one, (void *)3);
    int length = mq_timedreceive(queue, got, 4, 0, &until), late = length < 0;
    check(!late || errno == ETIMEDOUT);
    return pthread_join(thread, 0) ? 99 : late;
}

static int timed_send(void)
{
    struct timespec until = in_a_second();
    queue = make_queue(1, 0);
    put(1, 0);
    check(mq_timedsend(queue, "", 1, 0, &until) == -1 && errno == ETIMEDOUT);
    return taken();
}

static int nonblocking(void)
{
    queue = make_queue(1, O_NONBLOCK);
    pthread_t thread = start(puts_one, (void *)2);
    int got = taken();
    check(got > 0 || errno == EAGAIN);
    return pthread_join(thread, 0) ? 99 : got > 0 ? got : 1;
}

static void notice(union sigval value)
{
    check(value.sival_int == 9);
    sem_post(&told);
}

static int told_by_thread(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_THREAD};
    event.sigev_notify_function = notice;
    event.sigev_value.sival_int = 9;
    queue = make_queue(2, 0);
    sem_init(&told, 0, 0);
    check(!mq_notify(queue, &event) && mq_notify(queue, &event) == -1 && errno == EBUSY);
    pthread_t thread = start(puts_one, (void *)1);
    sem_wait(&told);
    return pthread_join(thread, 0) ? 99 : taken();
}

static struct sigevent by_signal(void)
{
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    check(!pthread_sigmask(SIG_BLOCK, &blocked, 0));
    return (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
}

static int told_by_signal(void)
{
    struct sigevent event = by_signal();
    siginfo_t info;
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    queue = make_queue(2, 0);
    check(!mq_notify(queue, &event));
    pthread_t thread = start(puts_one, (void *)1);
    check(sigwaitinfo(&wanted, &info) == SIGUSR1 && info.si_code == SI_MESGQ);
    check(!mq_notify(queue, &event) && !mq_notify(queue, 0) && !mq_notify(queue, &event));
    return pthread_join(thread, 0) ? 99 : taken();
}

static void *takes_one(void *argument)
{
    check(taken() == 6);
    return argument;
}

/* Nobody is told of a message that a thread waits for. */
static int told_or_received(void)
{
    struct sigevent event = by_signal();
    sigset_t pending;
    queue = make_queue(1, 0);
    check(!mq_notify(queue, &event));
    pthread_t thread = start(takes_one, 0);
    put(6, 0);
    check(!pthread_join(thread, 0) && !sigpending(&pending));
    return sigismember(&pending, SIGUSR1) ? 1 : 2;
}

static int names(void)
{
    struct mq_attr wanted = {.mq_maxmsg = 3, .mq_msgsize = 4}, got;
    char byte[4];
    queue = mq_open(name(), O_CREAT | O_RDWR, 0600, &wanted);
    check(queue >= 0 && mq_open(name(), O_CREAT | O_EXCL | O_RDWR, 0600, 0) == -1);
    check(errno == EEXIST);
    mqd_t again = mq_open(name(), O_RDONLY | O_NONBLOCK);
    check(again >= 0 && again != queue && !mq_getattr(again, &got));
    check(got.mq_maxmsg == 3 && got.mq_flags == O_NONBLOCK && !got.mq_curmsgs);
    check(mq_send(again, "", 1, 0) == -1 && errno == EBADF);
    check(mq_receive(queue, byte, 1, 0) == -1 && errno == EMSGSIZE);
    check(mq_send(queue, "", 5, 0) == -1 && errno == EMSGSIZE);
    check(!mq_unlink(name()) && mq_unlink(name()) == -1 && errno == ENOENT);
    check(mq_open(name(), O_RDWR) == -1 && errno == ENOENT);
    check(mq_open("/a/b", O_CREAT | O_RDWR, 0600, 0) == -1 && errno == EACCES);
    check(mq_open("a", O_CREAT | O_RDWR, 0600, 0) == -1 && errno == EINVAL);
    wanted.mq_maxmsg = 0;
    check(mq_open(name(), O_CREAT | O_RDWR, 0600, &wanted) == -1 && errno == EINVAL);
    put(4, 0);
    check(mq_receive(again, byte, 4, 0) == 1 && byte[0] == 4);
    check(!mq_close(again) && mq_close(again) == -1 && errno == EBADF);
    return 1;
}

static void change_by(int by, int flags, int expected)
{
    struct sembuf op = {0, by, flags};
    int result = semop(set, &op, 1);
    check(expected ? result == -1 && errno == expected : !result);
}

static int make_set(int value)
{
    int made = semget(IPC_PRIVATE, 2, 0600);
    check(made >= 0 && !semctl(made, 0, SETVAL, value));
    return made;
}

static int removed(int outcome)
{
    return semctl(set, 0, IPC_RMID) ? 99 : outcome;
}

static int last;

static void *locks(void *argument)
{
    change_by(-1, 0, 0);
    last = (int)(long)argument;
    change_by(1, 0, 0);
    return 0;
}

static int locked(void)
{
    set = make_set(1);
    pthread_t one = start(locks, (void *)1), two = start(locks, (void *)2);
    check(!pthread_join(one, 0) && !pthread_join(two, 0));
    return removed(last);
}

static void *takes(void *argument)
{
    change_by(-1, 0, 0);
    return argument;
}

static int zero(void)
{
    set = make_set(2);
    pthread_t one = start(takes, 0), two = start(takes, 0);
    change_by(0, 0, 0);
    check(!pthread_join(one, 0) && !pthread_join(two, 0));
    return removed(1 + semctl(set, 0, GETVAL));
}

static void *gives(void *argument)
{
    change_by(1, 0, 0);
    return argument;
}

/* Two operations at once, the second of which does not wait. */
static int several(void)
{
    struct sembuf ops[2] = {{0, -1, 0}, {1, -1, IPC_NOWAIT}};
    set = make_set(0);
    pthread_t thread = start(gives, 0);
    check(semop(set, ops, 2) == -1 && errno == EAGAIN && !pthread_join(thread, 0));
    return removed(semctl(set, 0, GETVAL));
}

static int sem_timed(void)
{
    struct timespec limit = {1, 0};
    struct sembuf op = {0, -1, 0};
    set = make_set(0);
    pthread_t thread = start(gives, 0);
    int late = semtimedop(set, &op, 1, &limit) != 0;
    check(!late || errno == EAGAIN);
    return pthread_join(thread, 0) ? 99 : removed(late);
}

static int sem_nowait(void)
{
    struct sembuf op = {0, -1, IPC_NOWAIT};
    set = make_set(0);
    pthread_t thread = start(gives, 0);
    int failed = semop(set, &op, 1) != 0;
    check(!failed || errno == EAGAIN);
    return pthread_join(thread, 0) ? 99 : removed(failed);
}

static void *meets_the_end(void *result)
{
    struct sembuf op = {0, -1, 0};
    check(semop(set, &op, 1) == -1);
    *(int *)result = errno == EIDRM ? 1 : errno == EINVAL ? 2 : 99;
    return 0;
}

static int sem_removed(void)
{
    int result = 0;
    set = make_set(0);
    pthread_t thread = start(meets_the_end, &result);
    check(!semctl(set, 0, IPC_RMID) && !pthread_join(thread, 0));
    return result;
}

static int counted(void)
{
    set = make_set(0);
    pthread_t thread = start(takes, 0);
    int waiting = semctl(set, 0, GETNCNT);
    check(!semctl(set, 0, GETZCNT));
    gives(0);
    return pthread_join(thread, 0) ? 99 : removed(waiting);
}

struct message {
    long type;
    char text[4];
};

static void send_message(long type)
{
    struct message message = {type, "abc"};
    check(!msgsnd(messages, &message, 4, 0));
}

static int receive_message(long type, int flags)
{
    struct message message;
    return msgrcv(messages, &message, 4, type, flags) == 4 ? (int)message.type : -1;
}

static int message_removed(int outcome)
{
    return msgctl(messages, IPC_RMID, 0) ? 99 : outcome;
}

static void *sends_two(void *argument)
{
    send_message(1);
    send_message(2);
    return argument;
}

static int types(void)
{
    messages = msgget(IPC_PRIVATE, 0600);
    pthread_t thread = start(sends_two, 0);
    int first = receive_message(2, 0), second = receive_message(0, 0);
    return pthread_join(thread, 0) ? 99 : message_removed(first * 4 + second);
}

static int any_type(void)
{
    messages = msgget(IPC_PRIVATE, 0600);
    pthread_t thread = start(sends_two, 0);
    int first = receive_message(-2, IPC_NOWAIT);
    check(first > 0 || errno == ENOMSG);
    check(!pthread_join(thread, 0));
    return message_removed(first > 0 ? first : 3);
}

static int message_full(void)
{
    struct msqid_ds state;
    messages = msgget(IPC_PRIVATE, 0600);
    check(!msgctl(messages, IPC_STAT, &state));
    state.msg_qbytes = 4;
    check(!msgctl(messages, IPC_SET, &state));
    pthread_t thread = start(sends_two, 0);
    int first = receive_message(0, 0), second = receive_message(0, 0);
    return pthread_join(thread, 0) ? 99 : message_removed(first * 4 + second);
}

static int keys(void)
{
    key_t key = getpid();
    messages = msgget(key, IPC_CREAT | IPC_EXCL | 0600);
    check(messages >= 0 && msgget(key, 0) == messages);
    check(msgget(key, IPC_CREAT | IPC_EXCL | 0600) == -1 && errno == EEXIST);
    check(semget(key, 1, 0600) == -1 && errno == ENOENT);
    set = semget(key, 1, IPC_CREAT | 0600);
    check(set >= 0 && semget(key, 1, 0) == set);
    check(semop(set, 0, 0) == -1 && errno == EINVAL);
    check(receive_message(0, IPC_NOWAIT) == -1 && errno == ENOMSG);
    check(message_removed(0) == 0 && receive_message(0, 0) == -1 && errno == EINVAL);
    return removed(1);
}

static void notes(int signal)
{
    (void)signal;
}

static void *interrupts(void *waiter)
{
    check(!pthread_kill(*(pthread_t *)waiter, SIGUSR1));
    send_message(4);
    return 0;
}

/* A handler ends a wait, whatever its flags; or it ran before, or after. */
static int interrupted(void)
{
    struct sigaction action = {.sa_handler = notes, .sa_flags = SA_RESTART};
    pthread_t me = pthread_self();
    check(!sigaction(SIGUSR1, &action, 0));
    messages = msgget(IPC_PRIVATE, 0600);
    pthread_t thread = start(interrupts, &me);
    int got = receive_message(0, 0);
    check(got == 4 || errno == EINTR);
    return pthread_join(thread, 0) ? 99 : message_removed(got == 4 ? 1 : 2);
}

static int from_child(void)
{
    messages = msgget(IPC_PRIVATE, 0600);
    queue = make_queue(1, 0);
    pid_t child = fork();
    if (!child) {
        send_message(3);
        put(2, 0);
        _exit(0);
    }
    int type = receive_message(0, 0), byte = taken();
    check(waitpid(child, 0, 0) == child);
    return message_removed(type * 4 + byte);
}

static const struct mode modes[] = {
    MODE(put_by_two), MODE(urgent), MODE(full), MODE(timed), MODE(timed_send),
    MODE(nonblocking), MODE(told_by_thread), MODE(told_by_signal), MODE(told_or_received),
    MODE(names), MODE(locked), MODE(zero), MODE(several), MODE(sem_timed), MODE(sem_nowait),
    MODE(sem_removed), MODE(counted), MODE(types), MODE(any_type), MODE(message_full),
    MODE(keys), MODE(interrupted), MODE(from_child),
};

MAIN
