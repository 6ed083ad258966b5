/* What the kernel and the C library promise whatever the interleaving: each mode ends with 1. */
#define _GNU_SOURCE
#include "calls.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>

static void *nothing(void *argument)
{
    return argument;
}

/* Threads on one stack of the program's own, one after another. */
static int stack_again(void)
{
    static char stack[1 << 16] __attribute__((aligned(4096)));
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    check(!pthread_attr_setstack(&attributes, stack, sizeof stack));
    for (int i = 0; i < 4; i++) {
        pthread_t thread;
        void *result;
        check(!pthread_create(&thread, &attributes, nothing, stack + i));
        check(!pthread_join(thread, &result) && result == stack + i);
    }
    return 1;
}

/* The stack of a thread that was joined is unmapped; others are made after it. */
static int stack_unmapped(void)
{
    enum { SIZE = 1 << 16 };
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    for (int i = 0; i < 3; i++) {
        void *stack = mmap(0, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        pthread_t thread;
        check(!pthread_attr_setstack(&attributes, stack, SIZE));
        check(!pthread_create(&thread, &attributes, nothing, 0));
        check(!pthread_join(thread, 0) && !munmap(stack, SIZE));
        pthread_attr_t small;
        pthread_attr_init(&small);
        check(!pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN));
        check(!pthread_create(&thread, &small, nothing, 0) && !pthread_join(thread, 0));
    }
    return 1;
}

/* A descriptor shows that its timer has expired to whoever has slept for longer. */
static int timer_seen(void)
{
    struct itimerspec every = {{0, 10000000}, {0, 10000000}};
    int timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
    check(!timerfd_settime(timer, 0, &every, 0));
    struct pollfd wait = {timer, POLLIN, 0};
    uint64_t times;
    check(poll(&wait, 1, 60000) == 1 && read(timer, &times, 8) == 8);
    usleep(35000);
    check(poll(&wait, 1, 0) == 1 && read(timer, &times, 8) == 8 && times >= 3);
    return 1;
}

static int inside;
static char path[32];

/* Two threads work on one file, which is gone afterwards whatever happens. */
static int two_on_a_file(void *(*body)(void *))
{
    int file = memfd_create("locked", 0);
    check(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    pthread_t a = start(body, 0), b = start(body, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    close(file);
    return 1;
}

static void *locks_both(void *argument)
{
    int fd = open(path, O_RDWR);
    struct flock lock = {.l_type = F_WRLCK};
    check(fd >= 0 && !fcntl(fd, F_OFD_SETLKW, &lock) && inside++ == 0);
    sched_yield();
    inside--;
    lock.l_type = F_UNLCK;
    check(!fcntl(fd, F_OFD_SETLK, &lock));
    check(!flock(fd, LOCK_EX) && !flock(fd, LOCK_UN));
    close(fd);
    return argument;
}

/* Locks of two families on one file are not in each other's way. */
static int two_families(void)
{
    return two_on_a_file(locks_both);
}

static void *reads_and_writes(void *argument)
{
    int fd = open(path, O_RDWR);
    check(fd >= 0 && !flock(fd, LOCK_SH));
    sched_yield();
    check(!flock(fd, LOCK_UN) && !flock(fd, LOCK_EX));
    close(fd);
    return argument;
}

/* Shared locks, then exclusive ones: who reads last does not wait for itself. */
static int shared_first(void)
{
    return two_on_a_file(reads_and_writes);
}

static void *queues(void *argument)
{
    check(!sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = 9}));
    return argument;
}

/* A descriptor for signals tells all of a signal. */
static int signal_told(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN);
    check(!pthread_sigmask(SIG_BLOCK, &set, 0));
    int fd = signalfd(-1, &set, 0);
    pthread_t other = start(queues, 0);
    struct signalfd_siginfo info;
    check(read(fd, &info, sizeof info) == sizeof info);
    check(info.ssi_signo == (uint32_t)SIGRTMIN && info.ssi_code == SI_QUEUE);
    check(info.ssi_int == 9 && info.ssi_pid == (uint32_t)getpid() && info.ssi_uid == getuid());
    pthread_join(other, 0);
    return 1;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t process, thread;
static volatile sig_atomic_t handled;

static void notes(int signal)
{
    handled += signal == SIGUSR1;
}

static void *signals(void *argument)
{
    pthread_mutex_lock(&lock);
    check(getpid() == process && syscall(SYS_getpid) == process && gettid() != thread);
    pthread_mutex_unlock(&lock);
    check(!kill(process, SIGUSR1));
    return argument;
}

/* A process keeps its number, also where main asked for it before there were threads. */
static int number(void)
{
    signal(SIGUSR1, notes);
    process = getpid();
    thread = gettid();
    pthread_t a = start(signals, 0);
    pthread_join(a, 0);
    a = start(signals, 0);
    pthread_t b = start(signals, 0);
    pthread_join(a, 0);
    pthread_join(b, 0);
    return handled > 0 && gettid() == thread && getpid() == thread;
}

/* A timer that expires again while its signal is pending counts that. */
static int overrun(void)
{
    sigset_t set;
    siginfo_t info;
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2};
    struct itimerspec often = {{0, 1000000}, {0, 1000000}}, never = {{0, 0}, {0, 0}};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &set, 0);
    check(!timer_create(CLOCK_MONOTONIC, &event, &timer));
    for (int round = 0; round < 2; round++) {
        check(!timer_settime(timer, 0, &often, 0) && !timer_getoverrun(timer));
        usleep(3500);
        check(sigwaitinfo(&set, &info) == SIGUSR2 && info.si_code == SI_TIMER);
        check(timer_getoverrun(timer) == info.si_overrun);
        check(!timer_settime(timer, 0, &never, 0));
        while (sigtimedwait(&set, &info, &never.it_value) > 0)
            ;
    }
    often.it_interval.tv_sec = -1;
    return timer_settime(timer, 0, &often, 0) == -1 && errno == EINVAL;
}

/* What nobody can change, and modes that no stack has. */
static int refused(void)
{
    static char bytes[1 << 16];
    stack_t stack = {.ss_sp = bytes, .ss_size = sizeof bytes, .ss_flags = SS_DISABLE + 1};
    check(signal(SIGKILL, notes) == SIG_ERR && errno == EINVAL);
    check(sigset(SIGSTOP, notes) == SIG_ERR && errno == EINVAL);
    check(sigaltstack(&stack, 0) == -1 && errno == EINVAL);
    stack.ss_flags = 0;
    stack.ss_size = 1000;
    check(sigaltstack(&stack, 0) == -1 && errno == ENOMEM);
    stack.ss_size = sizeof bytes;
    return !sigaltstack(&stack, 0) && sigignore(SIGKILL) == -1;
}

static int class_of(pthread_t thread, int *priority)
{
    struct sched_param param;
    int policy;
    check(!pthread_getschedparam(thread, &policy, &param));
    *priority = param.sched_priority;
    return policy;
}

static int put_in_class(pthread_t thread, int policy, int priority)
{
    struct sched_param param = {.sched_priority = priority};
    return pthread_setschedparam(thread, policy, &param);
}

static void *tells_class(void *priority)
{
    return (void *)(long)class_of(pthread_self(), priority);
}

/* The scheduling class that a thread was given is shown, and its threads begin with it. */
static int scheduling_class(void)
{
    pthread_t me = pthread_self();
    void *policy;
    int priority;
    check(class_of(me, &priority) == SCHED_OTHER && !priority);
    check(put_in_class(me, SCHED_OTHER, 3) == EINVAL && put_in_class(me, 77, 0) == EINVAL);
    check(put_in_class(me, SCHED_FIFO, 100) == EINVAL && !put_in_class(me, SCHED_BATCH, 0));
    check(class_of(me, &priority) == SCHED_BATCH && !priority);
    check(pthread_setschedprio(me, 1) == EINVAL && !pthread_setschedprio(me, 0));
    check(!pthread_join(start(tells_class, &priority), &policy));
    check((long)policy == SCHED_BATCH && !priority);
    int refused = put_in_class(me, SCHED_FIFO, 5);
    check(!refused || refused == EPERM);
    return class_of(me, &priority) == (refused ? SCHED_BATCH : SCHED_FIFO) &&
           priority == (refused ? 0 : 5);
}

/* Whoever may not have a class gets no thread of it, and no class without a priority is refused. */
static int class_refused(void)
{
    struct sched_param high = {.sched_priority = 5}, none = {0};
    pthread_attr_t attributes;
    pthread_t thread;
    check(geteuid() || !seteuid(65534));
    pthread_attr_init(&attributes);
    check(!pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED));
    check(!pthread_attr_setschedpolicy(&attributes, SCHED_FIFO));
    check(!pthread_attr_setschedparam(&attributes, &high));
    check(pthread_create(&thread, &attributes, nothing, 0) == EPERM);
    check(!pthread_attr_setschedpolicy(&attributes, SCHED_OTHER));
    check(!pthread_attr_setschedparam(&attributes, &none));
    return !pthread_create(&thread, &attributes, nothing, 0) && !pthread_join(thread, 0);
}

static int opens(const char *name, int flags)
{
    sem_t *opened = sem_open(name, flags, 0600, 1);
    int result = opened == SEM_FAILED ? errno : 0;
    if (!result)
        sem_close(opened);
    return result;
}

/* The mode of a named semaphore says who may open it; its maker has it in any case. */
static int semaphore_modes(void)
{
    static const char name[] = "/raddle-test-mode";
    struct {
        mode_t mask, mode;
        uid_t user;
        int result;
    } cases[] = {
        {0, 0600, 65534, 0},      {0, 0400, 65534, EACCES}, {0200, 0600, 65534, EACCES},
        {0, 0600, 65533, EACCES}, {0, 0606, 65533, 0},      {0, 0604, 65533, EACCES},
    };
    if (geteuid())
        return 1;
    check(!setegid(65534));
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        mode_t before = umask(cases[i].mask);
        check(!seteuid(65534));
        sem_t *made = sem_open(name, O_CREAT | O_EXCL, cases[i].mode, 1);
        check(made != SEM_FAILED && !sem_post(made) && umask(before) == cases[i].mask);
        check(opens(name, O_CREAT | O_EXCL) == EEXIST);
        check(!seteuid(0) && !opens(name, 0));
        gid_t group = cases[i].user == 65533 ? 65533 : 65534;
        check(!setegid(group) && !seteuid(cases[i].user));
        check(opens(name, 0) == cases[i].result && opens(name, O_CREAT) == cases[i].result);
        check(!seteuid(0) && !setegid(65534));
        check(!sem_close(made) && !sem_unlink(name));
    }
    return 1;
}

/* lockf locks from where the descriptor stands; the process does not get into its own way. */
static int locked_from_here(void)
{
    FILE *file = tmpfile();
    int fd = fileno(file);
    check(ftruncate(fd, 100) == 0 && lseek(fd, 10, SEEK_SET) == 10);
    check(!lockf(fd, F_LOCK, 10) && !lockf(fd, F_TLOCK, 10) && !lockf(fd, F_TEST, 10));
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 20};
    int other = open("/proc/self/exe", O_RDONLY);
    check(other >= 0 && !close(other) && !fcntl(fd, F_GETLK, &lock));
    check(lockf(fd, 77, 1) == -1 && errno == EINVAL);
    return !lockf(fd, F_ULOCK, 0);
}

static void *puts_two(void *end)
{
    struct iovec part = {"ab", 2};
    check(pwritev2(*(int *)end, &part, 1, -1, 0) == 2);
    return 0;
}

/* preadv2 without an offset waits for a pipe as readv does. */
static int vector_from_pipe(void)
{
    int ends[2];
    char bytes[2];
    struct iovec part = {bytes, 2};
    check(!pipe(ends));
    pthread_t writer = start(puts_two, &ends[1]);
    check(preadv2(ends[0], &part, 1, -1, 0) == 2 && bytes[1] == 'b');
    return !pthread_join(writer, 0);
}

static const struct mode modes[] = {
    MODE(stack_again), MODE(stack_unmapped), MODE(timer_seen), MODE(two_families),
    MODE(shared_first), MODE(signal_told), MODE(number),
    MODE(overrun), MODE(refused), MODE(scheduling_class), MODE(class_refused),
    MODE(semaphore_modes), MODE(locked_from_here), MODE(vector_from_pipe),
};

MAIN
