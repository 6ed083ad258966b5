// One row for each way in which C, POSIX and Linux order two threads: what the first does before
// `release` happens before what the second does after `acquire`. The first argument names the row.
// With a second argument the first thread writes after its release instead, so nothing orders the two
// accesses: a race.
#define _GNU_SOURCE
#include <aio.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int data, is_late, joined;
static _Thread_local int is_first;
static pthread_t first, second;

// The accesses that are in order, or race.
static void give(void) { data = 1; }
static void take(void) {
    volatile int seen = data;
    (void)seen;
}

static struct timespec in(clockid_t clock, int seconds) {
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_sec += seconds;
    return at;
}

#define MUTEX(name, kind)                                                                          \
    static pthread_mutex_t name;                                                                   \
    static int name##_given;                                                                       \
    static void name##_setup(void) {                                                               \
        pthread_mutexattr_t attributes;                                                            \
        pthread_mutexattr_init(&attributes);                                                       \
        kind;                                                                                      \
        pthread_mutex_init(&name, &attributes);                                                    \
    }                                                                                              \
    static void name##_release(void) {                                                             \
        pthread_mutex_lock(&name);                                                                 \
        name##_given = 1;                                                                          \
        pthread_mutex_unlock(&name);                                                               \
    }
#define FLAGGED(name, lock, unlock)                                                                \
    int given = 0;                                                                                 \
    if (lock)                                                                                      \
        return 0;                                                                                  \
    given = name##_given;                                                                          \
    unlock;                                                                                        \
    return given;

MUTEX(plain, (void)0)
static int plain_acquire(void) { FLAGGED(plain, pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain)) }
static int plain_try(void) { FLAGGED(plain, pthread_mutex_trylock(&plain), pthread_mutex_unlock(&plain)) }
static int plain_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    FLAGGED(plain, pthread_mutex_timedlock(&plain, &at), pthread_mutex_unlock(&plain))
}
static int plain_clock(void) {
    struct timespec at = in(CLOCK_MONOTONIC, 1);
    FLAGGED(plain, pthread_mutex_clocklock(&plain, CLOCK_MONOTONIC, &at), pthread_mutex_unlock(&plain))
}
MUTEX(recursive, pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE))
static int recursive_acquire(void) {
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    int given = recursive_given;
    pthread_mutex_unlock(&recursive);
    return given;
}
MUTEX(checking, pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK))
static int checking_acquire(void) { FLAGGED(checking, pthread_mutex_lock(&checking), pthread_mutex_unlock(&checking)) }
MUTEX(adaptive, pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP))
static int adaptive_acquire(void) { FLAGGED(adaptive, pthread_mutex_lock(&adaptive), pthread_mutex_unlock(&adaptive)) }
MUTEX(inheriting, pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT))
static int inheriting_acquire(void) { FLAGGED(inheriting, pthread_mutex_lock(&inheriting), pthread_mutex_unlock(&inheriting)) }

// A robust mutex whose owner ends with it.
MUTEX(robust, pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST))
static void robust_dies(void) { pthread_mutex_lock(&robust); }
static int inherit(int result) {
    if (result != EOWNERDEAD) {
        if (result == 0)
            pthread_mutex_unlock(&robust);
        return 0;
    }
    pthread_mutex_consistent(&robust);
    pthread_mutex_unlock(&robust);
    return 1;
}
static int robust_acquire(void) { return inherit(pthread_mutex_lock(&robust)); }
static int robust_try(void) { return inherit(pthread_mutex_trylock(&robust)); }
static int robust_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    return inherit(pthread_mutex_timedlock(&robust, &at));
}
static int robust_unlocks(void) { FLAGGED(robust, pthread_mutex_lock(&robust), pthread_mutex_unlock(&robust)) }
// The owner dies while it waits for a condition's mutex, and the waiter inherits.
static pthread_cond_t robust_changed = PTHREAD_COND_INITIALIZER;
static void robust_signals(void) {
    pthread_mutex_lock(&robust);
    robust_given = 1;
    pthread_cond_signal(&robust_changed);
}
static int robust_waits(void) {
    int result = pthread_mutex_lock(&robust);
    if (result == 0) {
        while (result == 0 && !robust_given)
            result = pthread_cond_wait(&robust_changed, &robust);
    }
    return inherit(result);
}

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static int rw_given;
static void rw_release(void) {
    pthread_rwlock_wrlock(&rw);
    rw_given = 1;
    pthread_rwlock_unlock(&rw);
}
static int rw_read(void) {
    pthread_rwlock_rdlock(&rw);
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}
static int rw_try_read(void) {
    if (pthread_rwlock_tryrdlock(&rw))
        return 0;
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}
static int rw_timed_read(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    if (pthread_rwlock_timedrdlock(&rw, &at))
        return 0;
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}
static int rw_write(void) {
    pthread_rwlock_wrlock(&rw);
    int given = rw_given;
    pthread_rwlock_unlock(&rw);
    return given;
}

static pthread_spinlock_t spin;
static int spin_given;
static void spin_setup(void) { pthread_spin_init(&spin, 0); }
static void spin_release(void) {
    pthread_spin_lock(&spin);
    spin_given = 1;
    pthread_spin_unlock(&spin);
}
static int spin_acquire(void) {
    pthread_spin_lock(&spin);
    int given = spin_given;
    pthread_spin_unlock(&spin);
    return given;
}

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void cond_release(void) {
    pthread_mutex_lock(&plain);
    plain_given = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&plain);
}
static int cond_acquire(void) {
    pthread_mutex_lock(&plain);
    while (!plain_given)
        pthread_cond_wait(&changed, &plain);
    pthread_mutex_unlock(&plain);
    return 1;
}
static int cond_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    pthread_mutex_lock(&plain);
    while (!plain_given && pthread_cond_timedwait(&changed, &plain, &at) == 0) {
    }
    int given = plain_given;
    pthread_mutex_unlock(&plain);
    return given;
}

static sem_t semaphore, *named;
static void sem_setup(void) { sem_init(&semaphore, 0, 0); }
static void sem_release(void) { sem_post(&semaphore); }
static int sem_acquire(void) { return sem_wait(&semaphore) == 0; }
static int sem_try(void) { return sem_trywait(&semaphore) == 0; }
static int sem_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    return sem_timedwait(&semaphore, &at) == 0;
}
static void named_setup(void) { named = sem_open("/raddle-edges", O_CREAT, 0600, 0); }
static void named_release(void) { sem_post(named); }
static int named_acquire(void) { return sem_wait(named) == 0; }

static pthread_barrier_t barrier;
static void barrier_setup(void) { pthread_barrier_init(&barrier, NULL, 2); }
static void barrier_release(void) { pthread_barrier_wait(&barrier); }
static int barrier_acquire(void) {
    pthread_barrier_wait(&barrier);
    return 1;
}

// The first to come runs the routine; who comes later finds that it has returned.
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int once_by_first;
static void once_routine(void) {
    if (is_first) {
        once_by_first = 1;
        if (!is_late)
            give();
    }
}
static void once_release(void) { pthread_once(&once, once_routine); }
static int once_acquire(void) {
    pthread_once(&once, once_routine);
    return once_by_first;
}
// As libraries inline it: the control says that the routine has returned.
static int once_inlined(void) {
    if (atomic_load_explicit((_Atomic int *)&once, memory_order_acquire) != 2)
        return 0;
    return once_by_first;
}
static once_flag flag = ONCE_FLAG_INIT;
static void flag_release(void) { call_once(&flag, once_routine); }
static int flag_acquire(void) {
    call_once(&flag, once_routine);
    return once_by_first;
}

static void nothing(void) {}
static int joins(void) { return joined = pthread_join(first, NULL) == 0; }
static int joins_try(void) { return joined = pthread_tryjoin_np(first, NULL) == 0; }
static int joins_timed(void) {
    struct timespec at = in(CLOCK_REALTIME, 1);
    return joined = pthread_timedjoin_np(first, NULL, &at) == 0;
}
static int joins_clock(void) {
    struct timespec at = in(CLOCK_MONOTONIC, 1);
    return joined = pthread_clockjoin_np(first, NULL, CLOCK_MONOTONIC, &at) == 0;
}

// Thread-specific data: the destructor runs in the thread, after all else.
static pthread_key_t key;
static void key_destructor(void *value) { *(int *)value = 1; }
static void key_setup(void) { pthread_key_create(&key, key_destructor); }
static void key_release(void) { pthread_setspecific(key, &data); }
static void again_destructor(void *value) {
    static int rounds;
    *(int *)value = 1;
    if (rounds++ < 2)
        pthread_setspecific(key, value);
}
static void again_setup(void) { pthread_key_create(&key, again_destructor); }
static void posting_destructor(void *value) {
    if (!is_late)
        *(int *)value = 1;
    sem_post(&semaphore);
    if (is_late)
        *(int *)value = 1;
}
static void posting_setup(void) {
    sem_setup();
    pthread_key_create(&key, posting_destructor);
}
static tss_t c11_key;
static void tss_setup(void) { tss_create(&c11_key, key_destructor); }
static void tss_release(void) { tss_set(c11_key, &data); }
// Who creates a key hands on what its destructor reads: the thread that ends runs it.
static void target_destructor(void *value) { (void)value, take(); }
static _Atomic int key_made;
static void creates_key(void) {
    pthread_key_create(&key, target_destructor);
    atomic_store(&key_made, 1);
}
static int ends_with_key(void) {
    if (atomic_load(&key_made))
        pthread_setspecific(key, &data);
    return 0;
}
// Who deletes the key when all have ended frees what they had.
static int deletes_key(void) {
    joined = pthread_join(first, NULL) == 0;
    pthread_key_delete(key);
    return 1;
}
static void cleans(void *unused) { (void)unused, give(); }
static void exits(void) {
    pthread_cleanup_push(cleans, NULL);
    pthread_exit(NULL);
    pthread_cleanup_pop(0);
}

// Handlers that were registered see what was before that, whoever runs them.
static _Atomic int registered;
static void registers_atexit(void) {
    atexit(take);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int exits_process(void) {
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        exit(0);
    return 0;
}
static void on_exit_handler(int status, void *unused) { (void)status, (void)unused, take(); }
static void registers_on_exit(void) {
    on_exit(on_exit_handler, NULL);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static void registers_quick(void) {
    at_quick_exit(take);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int exits_quickly(void) {
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        quick_exit(0);
    return 0;
}
static void registers_prepare(void) {
    pthread_atfork(take, NULL, NULL);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static void registers_parent(void) {
    pthread_atfork(NULL, take, NULL);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static void registers_child(void) {
    pthread_atfork(NULL, NULL, take);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int forks(void) {
    if (!atomic_load_explicit(&registered, memory_order_relaxed))
        return 0;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    return 0;
}
// The usual use: the lock is held while the process is copied.
static void lock_plain(void) { pthread_mutex_lock(&plain); }
static void unlock_plain(void) { pthread_mutex_unlock(&plain); }
static void atfork_locks_setup(void) {
    plain_setup();
    pthread_atfork(lock_plain, unlock_plain, unlock_plain);
}
static void forks_with_lock(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_mutex_lock(&plain);
    plain_given = 1;
    pthread_mutex_unlock(&plain);
}
// The handlers themselves, of two threads that fork, under the lock that they take.
static void prepare_gives(void) {
    pthread_mutex_lock(&plain);
    give();
}
static void parent_takes(void) {
    take();
    pthread_mutex_unlock(&plain);
}
static void atfork_gives_setup(void) {
    plain_setup();
    pthread_atfork(prepare_gives, parent_takes, unlock_plain);
}
static void forks_once(void) {
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
}
static int forks_too(void) {
    forks_once();
    return 0;
}

static int handled;
static void handler(int signal) {
    (void)signal;
    handled = 1;
    take();
}
static void signal_setup(void) { signal(SIGUSR1, handler); }
static void kills(void) { pthread_kill(second, SIGUSR1); }
static void kills_process(void) { kill(getpid(), SIGUSR1); }
static void queues(void) { pthread_sigqueue(second, SIGUSR1, (union sigval){.sival_int = 1}); }
static int stays(void) {
    sched_yield();
    return 0;
}
static sigset_t usr1(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    return set;
}
static void blocked_setup(void) {
    sigset_t set = usr1();
    sigprocmask(SIG_BLOCK, &set, NULL);
}
static int waits_signal(void) {
    sigset_t set = usr1();
    int signal;
    return sigwait(&set, &signal) == 0;
}
static int waits_info(void) {
    sigset_t set = usr1();
    return sigwaitinfo(&set, NULL) == SIGUSR1;
}
static int signal_descriptor;
static void signalfd_setup(void) {
    blocked_setup();
    sigset_t set = usr1();
    signal_descriptor = signalfd(-1, &set, 0);
}
static int reads_signal(void) {
    struct signalfd_siginfo info;
    return read(signal_descriptor, &info, sizeof info) == sizeof info;
}
static void handled_setup(void) {
    blocked_setup();
    signal(SIGUSR1, handler);
}
static int suspends(void) {
    sigset_t none;
    sigemptyset(&none);
    sigsuspend(&none);
    return 0;
}
// Who installs a handler hands on what it reads.
static void installs(void) {
    signal(SIGUSR2, handler);
    atomic_store_explicit(&registered, 1, memory_order_relaxed);
}
static int raises(void) {
    if (atomic_load_explicit(&registered, memory_order_relaxed))
        raise(SIGUSR2);
    return 0;
}

static void notified(union sigval value) { (void)value, take(); }
static void arms(struct sigevent *event) {
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, event, &timer);
    struct itimerspec spec = {.it_value.tv_nsec = 1000};
    timer_settime(timer, 0, &spec, NULL);
}
static void arms_thread(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
    arms(&event);
}
static void arms_signal(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    arms(&event);
}
static int sleeps(void) {
    usleep(1000);
    return 0;
}
static void alarm_setup(void) { signal(SIGALRM, handler); }
static void alarms(void) { ualarm(10, 0); }
static int timer_descriptor;
static void timerfd_setup(void) { timer_descriptor = timerfd_create(CLOCK_MONOTONIC, 0); }
static void arms_descriptor(void) {
    struct itimerspec spec = {.it_value.tv_nsec = 1000};
    timerfd_settime(timer_descriptor, 0, &spec, NULL);
}
static int reads_timer(void) {
    unsigned long long count;
    return read(timer_descriptor, &count, sizeof count) == sizeof count;
}

static int pipes[2];
static void pipe_setup(void) {
    if (pipe(pipes))
        abort();
}
static void writes(void) {
    if (write(pipes[1], "12345678", 8) != 8)
        abort();
}
static int reads(void) {
    char bytes[8];
    return read(pipes[0], bytes, 8) == 8;
}
static void closes(void) { close(pipes[1]); }
static int reads_end(void) {
    char bytes[8];
    return read(pipes[0], bytes, 8) == 0;
}
static void socket_setup(void) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pipes))
        abort();
}
static void sends(void) { send(pipes[1], "12345678", 8, 0); }
static int receives(void) {
    char bytes[8];
    return recv(pipes[0], bytes, 8, 0) == 8;
}
static void shuts(void) { shutdown(pipes[1], SHUT_WR); }
static int polls(void) {
    struct pollfd entry = {.fd = pipes[0], .events = POLLIN};
    return poll(&entry, 1, -1) == 1;
}
static int selects(void) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pipes[0], &set);
    return select(pipes[0] + 1, &set, NULL, NULL, NULL) == 1;
}
static int epolls(void) {
    int set = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event);
    return epoll_wait(set, &event, 1, -1) == 1;
}
static void eventfd_setup(void) { pipes[0] = pipes[1] = eventfd(0, 0); }
static FILE *streams[2];
static void stream_setup(void) {
    pipe_setup();
    streams[0] = fdopen(pipes[0], "r");
    streams[1] = fdopen(pipes[1], "w");
}
static void prints(void) {
    fputc('x', streams[1]);
    fflush(streams[1]);
}
static int scans(void) { return fgetc(streams[0]) == 'x'; }
// The lock of a stream.
static int stream_given;
static void locks_stream(void) {
    flockfile(stdout);
    stream_given = 1;
    funlockfile(stdout);
}
static int looks_in_stream(void) {
    flockfile(stdout);
    int given = stream_given;
    funlockfile(stdout);
    return given;
}

static mqd_t queue;
static void mq_setup(void) {
    struct mq_attr attributes = {.mq_maxmsg = 4, .mq_msgsize = 8};
    queue = mq_open("/raddle-edges", O_CREAT | O_RDWR, 0600, &attributes);
}
static void mq_sends(void) { mq_send(queue, "1", 1, 0); }
static int mq_takes(void) {
    char bytes[8];
    return mq_receive(queue, bytes, 8, NULL) == 1;
}
static void mq_notifies(void) {
    struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = notified};
    mq_notify(queue, &event);
}
static int mq_sends_too(void) {
    mq_send(queue, "1", 1, 0);
    return 0;
}
static int messages;
static void msg_setup(void) { messages = msgget(IPC_PRIVATE, 0600); }
static void msg_sends(void) { msgsnd(messages, &(struct { long type; char text[1]; }){1, "1"}, 1, 0); }
static int msg_takes(void) {
    struct {
        long type;
        char text[1];
    } message;
    return msgrcv(messages, &message, 1, 0, 0) == 1;
}
static int counters;
static void semop_setup(void) { counters = semget(IPC_PRIVATE, 1, 0600); }
static void semop_release(void) { semop(counters, &(struct sembuf){0, 1, 0}, 1); }
static int semop_acquire(void) { return semop(counters, &(struct sembuf){0, -1, 0}, 1) == 0; }

// Locks of files: each thread has an open file description of its own, as flock needs it.
static int files[2], file_given;
static void file_setup(void) {
    char name[] = "/tmp/raddle-edges-XXXXXX";
    files[0] = mkstemp(name);
    files[1] = open(name, O_RDWR);
    unlink(name);
}
static void flock_release(void) {
    flock(files[0], LOCK_EX);
    file_given = 1;
    flock(files[0], LOCK_UN);
}
static int flock_acquire(void) {
    flock(files[1], LOCK_SH);
    int given = file_given;
    flock(files[1], LOCK_UN);
    return given;
}
static struct flock whole(short type) { return (struct flock){.l_type = type, .l_whence = SEEK_SET}; }
static void ofd_release(void) {
    struct flock lock = whole(F_WRLCK), unlock = whole(F_UNLCK);
    fcntl(files[0], F_OFD_SETLKW, &lock);
    file_given = 1;
    fcntl(files[0], F_OFD_SETLKW, &unlock);
}
static int ofd_acquire(void) {
    struct flock lock = whole(F_RDLCK), unlock = whole(F_UNLCK);
    fcntl(files[1], F_OFD_SETLKW, &lock);
    int given = file_given;
    fcntl(files[1], F_OFD_SETLKW, &unlock);
    return given;
}

static struct aiocb block;
static char block_bytes[8] = "1234567";
static void aio_setup(void) {
    file_setup();
    block = (struct aiocb){.aio_fildes = files[0], .aio_buf = block_bytes, .aio_nbytes = 8};
}
static void aio_thread(void) {
    block.aio_sigevent.sigev_notify = SIGEV_THREAD;
    block.aio_sigevent.sigev_notify_function = notified;
    aio_write(&block);
}
static _Atomic int aio_begun;
static void aio_begins(void) {
    aio_write(&block);
    atomic_store_explicit(&aio_begun, 1, memory_order_relaxed);
}
static int aio_ends(void) {
    if (!atomic_load_explicit(&aio_begun, memory_order_relaxed))
        return 0;
    const struct aiocb *list[] = {&block};
    aio_suspend(list, 1, NULL);
    return aio_error(&block) == 0 && aio_return(&block) == 8;
}

static _Atomic int word;
static void wakes(void) {
    atomic_store(&word, 1);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}
static int waits(void) {
    while (!atomic_load(&word))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return 1;
}
static void stores(void) { atomic_store_explicit(&word, 1, memory_order_release); }
static int loads(void) { return atomic_load_explicit(&word, memory_order_acquire); }
static void fences(void) {
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&word, 1, memory_order_relaxed);
}
static int loads_fenced(void) {
    int seen = atomic_load_explicit(&word, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    return seen;
}
static int adds(void) {
    return atomic_fetch_add_explicit(&word, 2, memory_order_relaxed) == 1 &&
           atomic_load_explicit(&word, memory_order_acquire) == 3;
}

static int thread_c11(void *unused) {
    (void)unused;
    if (!is_late)
        give();
    return 0;
}
static int creates_c11(void) {
    thrd_t thread;
    thrd_create(&thread, thread_c11, NULL);
    thrd_join(thread, NULL);
    return 1;
}
static mtx_t c11_mutex;
static cnd_t c11_changed;
static int c11_given;
static void c11_setup(void) {
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_changed);
}
static void c11_release(void) {
    mtx_lock(&c11_mutex);
    c11_given = 1;
    cnd_signal(&c11_changed);
    mtx_unlock(&c11_mutex);
}
static int c11_acquire(void) {
    mtx_lock(&c11_mutex);
    while (!c11_given)
        cnd_wait(&c11_changed, &c11_mutex);
    mtx_unlock(&c11_mutex);
    return 1;
}

static void *created(void *unused) {
    (void)unused;
    take();
    return NULL;
}
static void creates(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, created, NULL);
    pthread_detach(thread);
}
static void cancels(void) { pthread_cancel(second); }
static void cancelled(void *unused) { (void)unused, take(); }
static int sleeps_long(void) {
    pthread_cleanup_push(cancelled, NULL);
    pause();
    pthread_cleanup_pop(0);
    return 0;
}

#ifdef LIBRARY
// The library's constructor has returned for everybody who gets a handle.
static _Atomic int opened;
static void opens(void) {
    dlopen(LIBRARY, RTLD_NOW);
    atomic_store_explicit(&opened, 1, memory_order_relaxed);
}
static int looks_up(void) {
    if (!atomic_load_explicit(&opened, memory_order_relaxed))
        return 0;
    void *library = dlopen(LIBRARY, RTLD_NOW);
    return library && ((int *)dlsym(library, "constructed"))[0] == 2;
}
#endif

static const struct row {
    const char *name;
    void (*setup)(void);
    void (*release)(void);
    int (*acquire)(void);
    // 0: the first thread writes before `release`, or after it. 1: always before it. 2: within it, or
    // after it. 3: always within it.
    int within;
} rows[] = {
    {"mutex", plain_setup, plain_release, plain_acquire, 0},
    {"mutex-try", plain_setup, plain_release, plain_try, 0},
    {"mutex-timed", plain_setup, plain_release, plain_timed, 0},
    {"mutex-clock", plain_setup, plain_release, plain_clock, 0},
    {"mutex-recursive", recursive_setup, recursive_release, recursive_acquire, 0},
    {"mutex-checking", checking_setup, checking_release, checking_acquire, 0},
    {"mutex-adaptive", adaptive_setup, adaptive_release, adaptive_acquire, 0},
    {"mutex-inheriting", inheriting_setup, inheriting_release, inheriting_acquire, 0},
    {"robust", robust_setup, robust_release, robust_unlocks, 0},
    {"robust-dies", robust_setup, robust_dies, robust_acquire, 1},
    {"robust-dies-try", robust_setup, robust_dies, robust_try, 1},
    {"robust-dies-timed", robust_setup, robust_dies, robust_timed, 1},
    {"robust-dies-waited", robust_setup, robust_signals, robust_waits, 1},
    {"rwlock-read", NULL, rw_release, rw_read, 0},
    {"rwlock-try-read", NULL, rw_release, rw_try_read, 0},
    {"rwlock-timed-read", NULL, rw_release, rw_timed_read, 0},
    {"rwlock-write", NULL, rw_release, rw_write, 0},
    {"spinlock", spin_setup, spin_release, spin_acquire, 0},
    {"condition", plain_setup, cond_release, cond_acquire, 0},
    {"condition-timed", plain_setup, cond_release, cond_timed, 0},
    {"semaphore", sem_setup, sem_release, sem_acquire, 0},
    {"semaphore-try", sem_setup, sem_release, sem_try, 0},
    {"semaphore-timed", sem_setup, sem_release, sem_timed, 0},
    {"semaphore-named", named_setup, named_release, named_acquire, 0},
    {"barrier", barrier_setup, barrier_release, barrier_acquire, 0},
    {"once", NULL, once_release, once_acquire, 2},
    {"once-inlined", NULL, once_release, once_inlined, 2},
    {"call_once", NULL, flag_release, flag_acquire, 2},
    {"join", NULL, nothing, joins, 1},
    {"join-try", NULL, nothing, joins_try, 1},
    {"join-timed", NULL, nothing, joins_timed, 1},
    {"join-clock", NULL, nothing, joins_clock, 1},
    {"join-exit", NULL, exits, joins, 3},
    {"key", key_setup, key_release, joins, 3},
    {"key-again", again_setup, key_release, joins, 3},
    {"key-posts", posting_setup, key_release, sem_acquire, 2},
    {"key-deleted", key_setup, key_release, deletes_key, 3},
    {"key-created", NULL, creates_key, ends_with_key, 0},
    {"tss", tss_setup, tss_release, joins, 3},
    {"atexit", NULL, registers_atexit, exits_process, 0},
    {"on_exit", NULL, registers_on_exit, exits_process, 0},
    {"at_quick_exit", NULL, registers_quick, exits_quickly, 0},
    {"atfork-prepare", NULL, registers_prepare, forks, 0},
    {"atfork-parent", NULL, registers_parent, forks, 0},
    {"atfork-child", NULL, registers_child, forks, 1},
    {"atfork-locks", atfork_locks_setup, forks_with_lock, plain_acquire, 0},
    {"atfork-both", atfork_gives_setup, forks_once, forks_too, 3},
    {"signal-thread", signal_setup, kills, stays, 0},
    {"signal-process", signal_setup, kills_process, stays, 0},
    {"signal-queued", signal_setup, queues, stays, 0},
    {"signal-waited", blocked_setup, kills, waits_signal, 0},
    {"signal-info", blocked_setup, kills, waits_info, 0},
    {"signal-read", signalfd_setup, kills_process, reads_signal, 0},
    {"signal-suspended", handled_setup, kills, suspends, 0},
    {"signal-installed", NULL, installs, raises, 0},
    {"timer-thread", NULL, arms_thread, sleeps, 0},
    {"timer-signal", signal_setup, arms_signal, sleeps, 0},
    {"timer-alarm", alarm_setup, alarms, sleeps, 0},
    {"timer-descriptor", timerfd_setup, arms_descriptor, reads_timer, 0},
    {"pipe", pipe_setup, writes, reads, 0},
    {"pipe-closed", pipe_setup, closes, reads_end, 0},
    {"pipe-poll", pipe_setup, writes, polls, 0},
    {"pipe-select", pipe_setup, writes, selects, 0},
    {"pipe-epoll", pipe_setup, writes, epolls, 0},
    {"socket", socket_setup, sends, receives, 0},
    {"socket-shut", socket_setup, shuts, reads_end, 0},
    {"eventfd", eventfd_setup, writes, reads, 0},
    {"stream", stream_setup, prints, scans, 0},
    {"stream-lock", NULL, locks_stream, looks_in_stream, 0},
    {"mq", mq_setup, mq_sends, mq_takes, 0},
    {"mq-notified", mq_setup, mq_notifies, mq_sends_too, 0},
    {"msg", msg_setup, msg_sends, msg_takes, 0},
    {"semop", semop_setup, semop_release, semop_acquire, 0},
    {"flock", file_setup, flock_release, flock_acquire, 0},
    {"ofd-lock", file_setup, ofd_release, ofd_acquire, 0},
    {"aio-suspend", aio_setup, aio_begins, aio_ends, 0},
    {"aio-thread", aio_setup, aio_thread, sleeps, 0},
    {"futex", NULL, wakes, waits, 0},
    {"atomic", NULL, stores, loads, 0},
    {"fences", NULL, fences, loads_fenced, 0},
    {"fence-half", NULL, fences, loads, 0},
    {"sequence", NULL, stores, adds, 0},
    {"create", NULL, creates, stays, 0},
    {"cancel", NULL, cancels, sleeps_long, 0},
    {"c11-thread", NULL, nothing, creates_c11, 3},
    {"c11-condition", c11_setup, c11_release, c11_acquire, 0},
#ifdef LIBRARY
    {"dlopen", NULL, opens, looks_up, 1},
#endif
};

static const struct row *row;

static void *first_thread(void *unused) {
    (void)unused;
    is_first = 1;
    if (!is_late && row->within < 2)
        give();
    row->release();
    if (is_late)
        give();
    return NULL;
}
static void *second_thread(void *unused) {
    (void)unused;
    if (row->acquire())
        take();
    return NULL;
}

int main(int count, char **arguments) {
    if (count < 2) {
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            printf("%s %d\n", rows[i].name, rows[i].within);
        return 0;
    }
    is_late = count > 2;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(rows[i].name, arguments[1]))
            row = &rows[i];
    if (row == NULL)
        return 64;
    if (row->setup)
        row->setup();
    if (!strncmp(row->name, "signal", 6) || !strcmp(row->name, "cancel")) {
        pthread_create(&second, NULL, second_thread, NULL);
        pthread_create(&first, NULL, first_thread, NULL);
    } else {
        pthread_create(&first, NULL, first_thread, NULL);
        pthread_create(&second, NULL, second_thread, NULL);
    }
    pthread_join(second, NULL);
    if (!joined)
        pthread_join(first, NULL);
    return 0;
}
