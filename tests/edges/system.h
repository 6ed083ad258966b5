// What goes from thread to thread by way of the system: signals, timers, descriptors, queues, streams and
// locks of files. `edges.c` includes this behind its own helpers and has the table.
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
