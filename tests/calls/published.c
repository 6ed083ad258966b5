/* A thread lets another one go on and only then writes what that one reads: 0 it came too late, 1 in
 * time. No call lies between the two, and the accesses to memory are not seen. */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <threads.h>
#include <unistd.h>

static int late;
static int ready;
static uint32_t word;
static int ends[2];
static sem_t units;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static mtx_t c11;

/* What main does before it creates the thread, by what it lets that go on, and how the thread waits. */
struct way {
    const char *name;
    void (*before)(void), (*give)(void), (*wait)(void);
};

static void nothing(void) {}

static void count(void) { sem_init(&units, 0, 0); }
static void post(void) { sem_post(&units); }
static void take(void) { sem_wait(&units); }

static void hold(void) { pthread_mutex_lock(&lock); }
static void release(void) { pthread_mutex_unlock(&lock); }
static void pass(void) { hold(), release(); }

static void hold_write(void) { pthread_rwlock_wrlock(&readers); }
static void release_write(void) { pthread_rwlock_unlock(&readers); }
static void pass_read(void) { pthread_rwlock_rdlock(&readers), pthread_rwlock_unlock(&readers); }

static void hold_spin(void) { pthread_spin_init(&spin, 0), pthread_spin_lock(&spin); }
static void release_spin(void) { pthread_spin_unlock(&spin); }
static void pass_spin(void) { pthread_spin_lock(&spin), pthread_spin_unlock(&spin); }

static void hold_c11(void) { mtx_init(&c11, mtx_plain), mtx_lock(&c11); }
static void release_c11(void) { mtx_unlock(&c11); }
static void pass_c11(void) { mtx_lock(&c11), mtx_unlock(&c11); }

static void await(void)
{
    pthread_mutex_lock(&lock);
    while (!ready)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void announce(int (*how)(pthread_cond_t *))
{
    pthread_mutex_lock(&lock);
    ready = 1;
    pthread_mutex_unlock(&lock);
    how(&changed);
}

static void signal_one(void) { announce(pthread_cond_signal); }
static void signal_all(void) { announce(pthread_cond_broadcast); }

static void wake(void)
{
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

static void await_word(void)
{
    while (!__atomic_load_n(&word, __ATOMIC_SEQ_CST))
        syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

static void routine(void) {}
static void do_once(void) { pthread_once(&once, routine); }

static void make_pipe(void) { pipe(ends); }
static void make_sockets(void) { socketpair(AF_UNIX, SOCK_STREAM, 0, ends); }
static void make_counter(void) { ends[0] = ends[1] = eventfd(0, 0); }

static uint64_t one = 1;
static void write_one(void) { write(ends[1], &one, sizeof one); }
static void send_one(void) { send(ends[1], &one, sizeof one, 0); }

static void write_parts(void)
{
    struct iovec parts[] = {{&one, 4}, {&one, 4}};
    writev(ends[1], parts, 2);
}

static void read_one(void)
{
    uint64_t into;
    read(ends[0], &into, sizeof into);
}

static const struct way ways[] = {
    {"created", nothing, nothing, nothing},
    {"posted", count, post, take},
    {"unlocked", hold, release, pass},
    {"write_unlocked", hold_write, release_write, pass_read},
    {"spin_unlocked", hold_spin, release_spin, pass_spin},
    {"c11_unlocked", hold_c11, release_c11, pass_c11},
    {"signalled", nothing, signal_one, await},
    {"broadcast", nothing, signal_all, await},
    {"woken", nothing, wake, await_word},
    {"once_done", nothing, do_once, do_once},
    {"written", make_pipe, write_one, read_one},
    {"written_in_parts", make_pipe, write_parts, read_one},
    {"sent", make_sockets, send_one, read_one},
    {"counted", make_counter, write_one, read_one},
};

static const struct way *way;

static void *reads(void *unused)
{
    way->wait();
    return (void *)(intptr_t)__atomic_load_n(&late, __ATOMIC_RELAXED);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        if (argc == 1)
            puts(ways[i].name);
        else if (strcmp(argv[1], ways[i].name) == 0)
            way = &ways[i];
    }
    if (argc == 1)
        return 0;
    if (!way)
        return 99;
    pthread_t reader;
    void *seen;
    way->before();
    pthread_create(&reader, 0, reads, 0);
    way->give();
    __atomic_store_n(&late, 1, __ATOMIC_RELAXED);
    pthread_join(reader, &seen);
    return (int)(intptr_t)seen;
}
