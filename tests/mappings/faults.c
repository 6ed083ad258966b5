// Calls by which memory that is not there comes to the kernel: each prints what it comes to. "none": the
// memory is protected; "unmapped": unmapped; "null", "low", "wild": never mapped; "guard": mapped without
// access; "constant": of the program's constants; "edge": ends after four bytes. With KEEPS_PAGES the program
// makes no call that acts on pages.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

static void *page;
static const char constant[4096] = "/nowhere/at/all";
static int in[2], out[2], socks[2], file, epoll, event, timer, inotify, queue, sems, memory, signals_fd;
static timer_t clock_timer;
static struct iovec vector;
static struct msghdr header;

#ifdef KEEPS_PAGES
#define ON_PAGES
#else
#define ON_PAGES                                                                              \
    X(mincore, mincore(&page, 1, page))                                                          \
    X(mincore_page, mincore(page, 4096, (unsigned char[1]){0}))                                  \
    X(msync, msync(page, 4096, MS_SYNC))                                                         \
    X(madvise, madvise(page, 4096, MADV_DONTNEED))                                               \
    X(mlock, mlock(page, 4096))                                                                  \
    X(mprotect, mprotect(page, 4096, PROT_READ))                                                 \
    X(mremap, mremap(page, 4096, 8192, MREMAP_MAYMOVE) == MAP_FAILED ? -1 : 0)
#endif
#define CALLS                                                                                    \
    X(read, read(in[0], page, 8))                                                                \
    X(write, write(out[1], page, 8))                                                             \
    X(pread, pread(file, page, 8, 0))                                                            \
    X(pwrite, pwrite(memory, page, 8, 0))                                                        \
    X(readv, readv(in[0], &vector, 1))                                                           \
    X(readv_vector, readv(in[0], page, 1))                                                       \
    X(writev, writev(out[1], &vector, 1))                                                        \
    X(writev_vector, writev(out[1], page, 1))                                                    \
    X(preadv, preadv(file, &vector, 1, 0))                                                       \
    X(pwritev, pwritev(memory, &vector, 1, 0))                                                   \
    X(preadv2, preadv2(file, &vector, 1, 0, 0))                                                  \
    X(read_file, read(file, page, 8))                                                            \
    X(write_file, write(memory, page, 8))                                                        \
    X(read_event, read(event, page, 8))                                                          \
    X(write_event, write(event, page, 8))                                                        \
    X(send, send(socks[0], page, 8, 0))                                                          \
    X(recv, recv(socks[0], page, 8, MSG_DONTWAIT))                                               \
    X(sendto, sendto(socks[0], page, 8, 0, NULL, 0))                                             \
    X(recvfrom, recvfrom(socks[0], page, 8, MSG_DONTWAIT, NULL, NULL))                           \
    X(sendmsg, sendmsg(socks[0], &header, 0))                                                    \
    X(recvmsg, recvmsg(socks[0], &header, MSG_DONTWAIT))                                         \
    X(sendmsg_header, sendmsg(socks[0], page, 0))                                                \
    X(recvmsg_header, recvmsg(socks[0], page, MSG_DONTWAIT))                                     \
    X(sendmmsg, sendmmsg(socks[0], page, 1, 0))                                                  \
    X(recvmmsg, recvmmsg(socks[0], page, 1, MSG_DONTWAIT, NULL))                                 \
    X(bind, bind(socket(AF_UNIX, SOCK_STREAM, 0), page, 16))                                     \
    X(connect, connect(socket(AF_UNIX, SOCK_STREAM, 0), page, 16))                               \
    X(getsockname, getsockname(socks[0], page, page))                                            \
    X(getpeername, getpeername(socks[0], page, page))                                            \
    X(getsockopt, getsockopt(socks[0], SOL_SOCKET, SO_TYPE, page, &(socklen_t){4}))              \
    X(setsockopt, setsockopt(socks[0], SOL_SOCKET, SO_SNDBUF, page, 4))                          \
    X(socketpair, socketpair(AF_UNIX, SOCK_STREAM, 0, page))                                     \
    X(pipe, pipe(page))                                                                          \
    X(pipe2, pipe2(page, 0))                                                                     \
    X(poll, poll(page, 1, 0))                                                                    \
    X(ppoll, ppoll(page, 1, &(struct timespec){0}, NULL))                                        \
    X(select, select(1, page, NULL, NULL, &(struct timeval){0}))                                 \
    X(select_time, select(0, NULL, NULL, NULL, page))                                            \
    X(epoll_ctl, epoll_ctl(epoll, EPOLL_CTL_ADD, in[0], page))                                   \
    X(epoll_wait, epoll_wait(epoll, page, 1, 0))                                                 \
    X(timerfd_settime, timerfd_settime(timer, 0, page, NULL))                                    \
    X(timerfd_gettime, timerfd_gettime(timer, page))                                             \
    X(signalfd, signalfd(-1, page, 0))                                                           \
    X(read_signalfd, read(signals_fd, page, 128))                                                \
    X(inotify_add_watch, inotify_add_watch(inotify, page, IN_OPEN))                              \
    X(open, open(page, O_RDONLY))                                                                \
    X(openat, openat(AT_FDCWD, page, O_RDONLY))                                                  \
    X(creat, creat(page, 0600))                                                                  \
    X(stat, stat(page, &(struct stat){0}))                                                       \
    X(stat_buffer, stat("/bin/sh", page))                                                              \
    X(lstat, lstat("/bin/sh", page))                                                                   \
    X(fstat, fstat(file, page))                                                                  \
    X(fstatat, fstatat(AT_FDCWD, "/", page, 0))                                                  \
    X(statx, statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, page))                                   \
    X(statfs, statfs("/", page))                                                                 \
    X(fstatfs, fstatfs(file, page))                                                              \
    X(access, access(page, R_OK))                                                                \
    X(faccessat, faccessat(AT_FDCWD, page, R_OK, 0))                                             \
    X(unlink, unlink(page))                                                                      \
    X(rename, rename(page, "/nowhere/at/all"))                                                   \
    X(link, link(page, "/nowhere/at/all"))                                                       \
    X(symlink, symlink(page, "/nowhere/at/all"))                                                 \
    X(readlink, readlink("/proc/self/exe", page, 64))                                            \
    X(readlink_path, readlink(page, (char[64]){0}, 64))                                          \
    X(readlinkat, readlinkat(AT_FDCWD, "/proc/self/exe", page, 64))                              \
    X(mkdir, mkdir(page, 0700))                                                                  \
    X(rmdir, rmdir(page))                                                                        \
    X(mkfifo, mkfifo(page, 0600))                                                                \
    X(mknod, mknod(page, S_IFREG, 0))                                                            \
    X(chmod, chmod(page, 0600))                                                                  \
    X(chown, chown(page, -1, -1))                                                                \
    X(truncate, truncate(page, 0))                                                               \
    X(chdir, chdir(page))                                                                        \
    X(getcwd, -!getcwd(page, 1000))                                                              \
    X(utimensat, utimensat(AT_FDCWD, page, NULL, 0))                                             \
    X(futimens, futimens(memory, page))                                                          \
    X(utime, utime("/nowhere/at/all", page))                                                     \
    X(getxattr, getxattr(page, "user.a", NULL, 0))                                               \
    X(listxattr, listxattr(page, NULL, 0))                                                       \
    X(getrandom, getrandom(page, 8, 0))                                                          \
    X(getentropy, getentropy(page, 8))                                                           \
    X(uname, uname(page))                                                                        \
    X(sysinfo, sysinfo(page))                                                                    \
    X(times, times(page))                                                                        \
    X(getrusage, getrusage(RUSAGE_SELF, page))                                                   \
    X(getrlimit, getrlimit(RLIMIT_NOFILE, page))                                                 \
    X(setrlimit, setrlimit(RLIMIT_CORE, page))                                                   \
    X(prlimit, prlimit(0, RLIMIT_CORE, NULL, page))                                              \
    X(getgroups, getgroups(64, page))                                                            \
    X(getresuid, getresuid(page, page, page))                                                    \
    X(getresgid, getresgid(page, page, page))                                                    \
    X(gettimeofday, gettimeofday(page, NULL))                                                    \
    X(time, time(page))                                                                          \
    X(clock_gettime, clock_gettime(CLOCK_MONOTONIC, page))                                       \
    X(clock_gettime_cpu, clock_gettime(CLOCK_PROCESS_CPUTIME_ID, page))                          \
    X(clock_getres, clock_getres(CLOCK_PROCESS_CPUTIME_ID, page))                                \
    X(clock_nanosleep, (errno = clock_nanosleep(CLOCK_MONOTONIC, 0, page, NULL)) ? -1 : 0)       \
    X(nanosleep, nanosleep(page, NULL))                                                          \
    X(getitimer, getitimer(ITIMER_REAL, page))                                                   \
    X(setitimer, setitimer(ITIMER_REAL, page, NULL))                                             \
    X(timer_create, timer_create(CLOCK_MONOTONIC, NULL, page))                                   \
    X(timer_settime, timer_settime(clock_timer, 0, page, NULL))                                  \
    X(timer_gettime, timer_gettime(clock_timer, page))                                           \
    X(sigaction, sigaction(SIGUSR1, page, NULL))                                                 \
    X(sigaction_old, sigaction(SIGUSR1, NULL, page))                                             \
    X(sigprocmask, sigprocmask(SIG_BLOCK, page, NULL))                                           \
    X(sigprocmask_old, sigprocmask(SIG_BLOCK, NULL, page))                                       \
    X(pthread_sigmask, (errno = pthread_sigmask(SIG_BLOCK, page, NULL)) ? -1 : 0)                \
    X(sigpending, sigpending(page))                                                              \
    X(sigaltstack, sigaltstack(page, NULL))                                                      \
    X(sigaltstack_old, sigaltstack(NULL, page))                                                  \
    X(sigtimedwait, sigtimedwait(page, NULL, &(struct timespec){0}))                             \
    X(sched_getaffinity, sched_getaffinity(0, 128, page))                                        \
    X(sched_setaffinity, sched_setaffinity(0, 128, page))                                        \
    X(sched_getparam, sched_getparam(0, page))                                                   \
    X(sched_setparam, sched_setparam(0, page))                                                   \
    X(sched_setscheduler, sched_setscheduler(0, SCHED_OTHER, page))                              \
    X(sched_rr_get_interval, sched_rr_get_interval(0, page))                                     \
    X(ioctl, ioctl(in[0], FIONREAD, page))                                                       \
    X(fcntl_lock, fcntl(memory, F_GETLK, page))                                                  \
    X(fcntl_set_lock, fcntl(memory, F_SETLK, page))                                              \
    X(sendfile, sendfile(out[1], file, page, 1))                                                 \
    X(splice, splice(file, page, out[1], NULL, 1, 0))                                            \
    X(copy_file_range, copy_file_range(file, page, memory, NULL, 1, 0))                          \
    X(vmsplice, vmsplice(out[1], &vector, 1, SPLICE_F_NONBLOCK))                                 \
    X(msgsnd, msgsnd(queue, page, 1, IPC_NOWAIT))                                                \
    X(msgrcv, msgrcv(queue, page, 1, 0, IPC_NOWAIT))                                             \
    X(msgctl, msgctl(queue, IPC_STAT, page))                                                     \
    X(semop, semop(sems, page, 1))                                                               \
    X(semctl, semctl(sems, 0, IPC_STAT, page))                                                   \
    ON_PAGES                                                                                     \
    X(memfd_create, memfd_create(page, 0))                                                       \
    X(shm_open, shm_open("/x", O_RDONLY, 0))                                                     \
    X(process_vm_readv, process_vm_readv(getpid(), &vector, 1, &(struct iovec){&page, 8}, 1, 0)) \
    X(process_vm_writev, process_vm_writev(getpid(), &vector, 1, &(struct iovec){&page, 8}, 1, 0)) \
    X(waitpid, waitpid(-1, page, WNOHANG))                                                       \
    X(execve, execve(page, (char *[]){0}, (char *[]){0}))                                        \
    X(mq_open, mq_open("/x", O_RDONLY))                                                          \
    X(by_number_read, syscall(SYS_read, in[0], page, 8))                                         \
    X(by_number_write, syscall(SYS_write, out[1], page, 8))                                      \
    X(by_number_getrandom, syscall(SYS_getrandom, page, 8, 0))                                   \
    X(by_number_clock_gettime, syscall(SYS_clock_gettime, CLOCK_MONOTONIC, page))                \
    X(by_number_nanosleep, syscall(SYS_nanosleep, page, 0))                                      \
    X(by_number_stat, syscall(SYS_stat, page, page))                                             \
    X(by_number_pipe, syscall(SYS_pipe, page))                                                   \
    X(by_number_uname, syscall(SYS_uname, page))                                                 \
    X(by_number_futex, syscall(SYS_futex, page, 0, 0, 0, 0, 0))                                  \
    X(by_number_rt_sigprocmask, syscall(SYS_rt_sigprocmask, 0, page, 0, 8))                      \
    X(by_number_getcpu, syscall(SYS_getcpu, page, 0, 0))

static sigjmp_buf back;
static void fault(int signal) { siglongjmp(back, signal); }

#define X(name, call) static long do_##name(void) { return call; }
CALLS
#undef X
static const struct { const char *name; long (*call)(void); } calls[] = {
#define X(name, call) {#name, do_##name},
    CALLS
};

int main(int argc, char **argv)
{
#ifndef KEEPS_PAGES
    page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) + 4096;
#endif
    vector = (struct iovec){page, 8};
    header = (struct msghdr){.msg_iov = &vector, .msg_iovlen = 1};
    file = open("/proc/self/exe", O_RDONLY);
    memory = memfd_create("m", 0);
    if (pipe(in) || pipe(out) || socketpair(AF_UNIX, SOCK_STREAM, 0, socks))
        return 9;
    epoll = epoll_create1(0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, out[1], &(struct epoll_event){.events = EPOLLOUT});
    event = eventfd(1, 0);
    timer = timerfd_create(CLOCK_MONOTONIC, 0);
    inotify = inotify_init();
    queue = msgget(IPC_PRIVATE, 0600);
    sems = semget(IPC_PRIVATE, 1, 0600);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    signals_fd = signalfd(-1, &set, 0);
    timer_create(CLOCK_MONOTONIC, NULL, &clock_timer);
    msgsnd(queue, &(struct { long type; char text[4]; }){1, "abc"}, 1, 0);
    write(in[1], "01234567", 8);
    write(socks[1], "01234567", 8);
    signal(SIGSEGV, fault);
    signal(SIGBUS, fault);
    const char *how = argc > 1 ? argv[1] : "unmapped";
    if (!strcmp(how, "null"))
        page = NULL;
    else if (!strcmp(how, "low"))
        page = (void *)8;
    else if (!strcmp(how, "wild"))
        page = (void *)0x123456789000;
    else if (!strcmp(how, "constant"))
        page = (void *)constant;
#ifndef KEEPS_PAGES
    else if (!strcmp(how, "none"))
        mprotect(page, 4096, PROT_NONE);
    else if (!strcmp(how, "unmapped"))
        munmap(page, 4096);
    else if (!strcmp(how, "guard"))
        page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    else if (!strcmp(how, "edge")) {
        int small = memfd_create("small", 0);
        ftruncate(small, 4096);
        page = (char *)mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, small, 0) + 4092;
        memset(page, 0, 4);
    }
#endif
    vector.iov_base = page;
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        // These two would wait for ever.
        int waits = !strcmp(how, "null") || !strcmp(how, "constant");
        if (waits && !strcmp(calls[i].name, "select_time"))
            continue;
        // Earlier calls may have written there.
        if (!strcmp(how, "edge"))
            memset(page, 0, 4);
        int signal = sigsetjmp(back, 1);
        if (signal) {
            printf("%s: signal %d\n", calls[i].name, signal);
            continue;
        }
        errno = 0;
        long result = calls[i].call();
        printf("%s: %s\n", calls[i].name, result < 0 ? strerror(errno) : "succeeds");
    }
    msgctl(queue, IPC_RMID, NULL);
    semctl(sems, 0, IPC_RMID);
    return 0;
}
