/* Asynchronous I/O: whoever is told, and whenever it is asked, what it did is the same. */
#define _GNU_SOURCE
#include "calls.h"
#include <aio.h>
#include <fcntl.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/mman.h>

static struct aiocb request, second;
static char buffer[16], other[16];
static int ends[2];
static sem_t told;

/* A file in memory that holds "hello". */
static int file(void)
{
    int fd = memfd_create("asynchronous", 0);
    check(fd >= 0 && write(fd, "hello", 5) == 5);
    return fd;
}

static void prepare(struct aiocb *r, int fd, char *into, int bytes, int opcode)
{
    memset(r, 0, sizeof *r);
    r->aio_fildes = fd;
    r->aio_buf = into;
    r->aio_nbytes = bytes;
    r->aio_lio_opcode = opcode;
    r->aio_sigevent.sigev_notify = SIGEV_NONE;
}

static void await(struct aiocb *r)
{
    const struct aiocb *list[] = {0, r};
    while (aio_error(r) == EINPROGRESS)
        check(!aio_suspend(list, 2, 0) || errno == EINTR);
}

static int has_read(struct aiocb *r, int bytes)
{
    return !aio_error(r) && aio_return(r) == bytes;
}

static int suspended(void)
{
    prepare(&request, file(), buffer, 16, LIO_READ);
    check(!aio_read(&request));
    await(&request);
    return has_read(&request, 5) && !strcmp(buffer, "hello");
}

static int polled(void)
{
    prepare(&request, file(), buffer, 16, LIO_READ);
    check(!aio_read(&request));
    while (aio_error(&request) == EINPROGRESS)
        sched_yield();
    return has_read(&request, 5);
}

static void posts(union sigval value)
{
    check(value.sival_int == 7);
    sem_post(&told);
}

static void tell_thread(struct sigevent *event)
{
    sem_init(&told, 0, 0);
    event->sigev_notify = SIGEV_THREAD;
    event->sigev_notify_function = posts;
    event->sigev_value.sival_int = 7;
}

static int by_thread(void)
{
    prepare(&request, file(), buffer, 16, LIO_READ);
    tell_thread(&request.aio_sigevent);
    check(!aio_read(&request) && !sem_wait(&told));
    return has_read(&request, 5);
}

static volatile sig_atomic_t states;

static void asks(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    states += info->si_code == SI_ASYNCIO && aio_error(info->si_value.sival_ptr) == 0;
}

/* The handler interrupts the calls that make requests, too. */
static int by_signal(void)
{
    struct sigaction action = {.sa_sigaction = asks, .sa_flags = SA_SIGINFO};
    check(!sigaction(SIGRTMIN + 1, &action, 0));
    int fd = file();
    struct aiocb *both[] = {&request, &second};
    char *into[] = {buffer, other};
    for (int i = 0; i < 2; i++) {
        prepare(both[i], fd, into[i], 16, LIO_READ);
        both[i]->aio_sigevent.sigev_notify = SIGEV_SIGNAL;
        both[i]->aio_sigevent.sigev_signo = SIGRTMIN + 1;
        both[i]->aio_sigevent.sigev_value.sival_ptr = both[i];
        check(!aio_read(both[i]));
    }
    while (states < 2)
        usleep(10);
    return has_read(&request, 5) && has_read(&second, 5);
}

static int from_pipe(void)
{
    check(!pipe(ends));
    prepare(&request, ends[0], buffer, 16, LIO_READ);
    check(!aio_read(&request) && write(ends[1], "abc", 3) == 3);
    await(&request);
    return has_read(&request, 3);
}

/* The second request waits for the first one, which waits for the pipe. */
static int cancelled(void)
{
    check(!pipe(ends));
    prepare(&request, ends[0], buffer, 3, LIO_READ);
    prepare(&second, ends[0], other, 3, LIO_READ);
    check(!aio_read(&request) && !aio_read(&second));
    check(aio_cancel(ends[0], &second) == AIO_CANCELED);
    check(aio_error(&second) == ECANCELED && aio_return(&second) == -1);
    check(write(ends[1], "abcdef", 6) == 6);
    await(&request);
    check(aio_cancel(ends[0], 0) == AIO_ALLDONE);
    return has_read(&request, 3) && !other[0];
}

/* That a request was cancelled is told, too. */
static int cancel_tells(void)
{
    check(!pipe(ends));
    prepare(&request, ends[0], buffer, 3, LIO_READ);
    prepare(&second, ends[0], other, 3, LIO_READ);
    tell_thread(&second.aio_sigevent);
    check(!aio_read(&request) && !aio_read(&second));
    check(aio_cancel(ends[0], &second) == AIO_CANCELED && !sem_wait(&told));
    check(write(ends[1], "abc", 3) == 3);
    await(&request);
    return aio_error(&second) == ECANCELED && has_read(&request, 3);
}

static int listed(void)
{
    int fd = file();
    prepare(&request, fd, buffer, 2, LIO_READ);
    prepare(&second, fd, other, 3, LIO_READ);
    second.aio_offset = 2;
    struct aiocb *list[] = {&request, 0, &second};
    check(!lio_listio(LIO_WAIT, list, 3, 0));
    return has_read(&request, 2) && has_read(&second, 3) && !memcmp(other, "llo", 3);
}

static int list_tells(void)
{
    int fd = file();
    struct sigevent event;
    tell_thread(&event);
    event.sigev_notify_attributes = 0;
    prepare(&request, fd, buffer, 2, LIO_READ);
    prepare(&second, fd, other, 3, LIO_READ);
    struct aiocb *list[] = {&request, &second};
    check(!lio_listio(LIO_NOWAIT, list, 2, &event) && !sem_wait(&told));
    return has_read(&request, 2) && has_read(&second, 3);
}

static int refused(void)
{
    prepare(&request, 99, buffer, 2, LIO_READ);
    check(!aio_read(&request));
    await(&request);
    check(aio_error(&request) == EBADF && aio_return(&request) == -1);
    request.aio_reqprio = -1;
    check(aio_write(&request) == -1 && errno == EINVAL);
    check(aio_cancel(99, 0) == -1 && errno == EBADF);
    return aio_fsync(O_SYNC, &request) == -1 && errno == EBADF;
}

static int synchronised(void)
{
    int fd = file();
    prepare(&request, fd, "HE", 2, LIO_WRITE);
    prepare(&second, fd, 0, 0, 0);
    check(!aio_write(&request) && !aio_fsync(O_DSYNC, &second));
    await(&second);
    return has_read(&request, 2) && !aio_error(&second) && pread(fd, buffer, 5, 0) == 5
        && !memcmp(buffer, "HEllo", 5);
}

static const struct mode modes[] = {
    MODE(suspended), MODE(polled), MODE(by_thread), MODE(by_signal), MODE(from_pipe),
    MODE(cancelled), MODE(cancel_tells), MODE(listed), MODE(list_tells), MODE(refused), MODE(synchronised),
};

MAIN
