/* What pthreads and the system offer, used as it should be. */
#define _GNU_SOURCE
#include "correct.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/eventfd.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static int counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, drained = PTHREAD_COND_INITIALIZER;

static void make_mutex(int type, int robust, int protocol) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, type);
    pthread_mutexattr_setrobust(&attributes, robust);
    pthread_mutexattr_setprotocol(&attributes, protocol);
    assert(pthread_mutex_init(&mutex, &attributes) == 0);
    pthread_mutexattr_destroy(&attributes);
}

static void *locked_twice(void *arg) {
    (void)arg;
    assert(pthread_mutex_lock(&mutex) == 0 && pthread_mutex_lock(&mutex) == 0);
    counter++;
    assert(pthread_mutex_unlock(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}
static void recursive(void) {
    make_mutex(PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    in_threads(3, locked_twice);
    assert(counter == 3);
}

static void *checked(void *arg) {
    (void)arg;
    assert(pthread_mutex_unlock(&mutex) == EPERM);
    assert(pthread_mutex_lock(&mutex) == 0);
    assert(pthread_mutex_lock(&mutex) == EDEADLK);
    counter++;
    assert(pthread_mutex_unlock(&mutex) == 0);
    return NULL;
}
static void error_checking(void) {
    make_mutex(PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_NONE);
    in_threads(2, checked);
    assert(counter == 2);
}

static void *counted(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    counter++;
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void inheriting(void) {
    make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_STALLED, PTHREAD_PRIO_INHERIT);
    in_threads(3, counted);
    assert(counter == 3);
}

/* Ends with the mutex held; what it wrote is for the one that recovers. */
static void *dies(void *arg) {
    (void)arg;
    int got = pthread_mutex_lock(&mutex);
    if (got == EOWNERDEAD)
        pthread_mutex_consistent(&mutex);
    counter++;
    return NULL;
}
static void robust(void) {
    make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    in_threads(2, dies);
    assert(pthread_mutex_lock(&mutex) == EOWNERDEAD);
    assert(counter == 2);
    assert(pthread_mutex_consistent(&mutex) == 0 && pthread_mutex_unlock(&mutex) == 0);
}
static void *recovers(void *arg) {
    (void)arg;
    int got = pthread_mutex_lock(&mutex);
    assert(got == 0 || (got == EOWNERDEAD && pthread_mutex_consistent(&mutex) == 0));
    assert(counter == (got == EOWNERDEAD));
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void robust_handed_over(void) {
    make_mutex(PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_ROBUST, PTHREAD_PRIO_NONE);
    in_two(dies, recovers);
}

/* A bounded buffer of one place. */
static int place;
static bool full;
static void *puts_two(void *arg) {
    (void)arg;
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&mutex);
        while (full)
            pthread_cond_wait(&drained, &mutex);
        place = i;
        full = true;
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
static void *takes_two(void *arg) {
    (void)arg;
    for (int i = 1; i <= 2; i++) {
        pthread_mutex_lock(&mutex);
        while (!full)
            pthread_cond_wait(&changed, &mutex);
        assert(place == i);
        full = false;
        pthread_cond_signal(&drained);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}
static void bounded_buffer(void) { in_two(puts_two, takes_two); }

/* Signalled after the mutex was given back. */
static void *signals_outside(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    full = true;
    pthread_mutex_unlock(&mutex);
    pthread_cond_signal(&changed);
    return NULL;
}
static void *waits_full(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    while (!full)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void signal_outside(void) { in_two(signals_outside, waits_full); }

/* All are told to stop at once. */
static void *broadcasts(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    full = true;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void *waits_or_tells(void *arg) { return (long)arg ? waits_full(arg) : broadcasts(arg); }
static void broadcast(void) { in_threads(3, waits_or_tells); }

/* A wait with a deadline looks again, whoever wakes it. */
static void *waits_for_long(void *arg) {
    (void)arg;
    struct timespec deadline;
    clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 3600;
    pthread_mutex_lock(&mutex);
    int result = 0;
    while (!full && result == 0)
        result = pthread_cond_timedwait(&changed, &mutex, &deadline);
    assert(full || result == ETIMEDOUT);
    pthread_mutex_unlock(&mutex);
    return NULL;
}
static void timed_wait(void) { in_two(broadcasts, waits_for_long); }

/* Condition and mutex live on the stack of the one that waits. */
struct request {
    pthread_mutex_t mutex;
    pthread_cond_t done;
    bool is_done;
};
static void *answers(void *arg) {
    struct request *request = arg;
    pthread_mutex_lock(&request->mutex);
    request->is_done = true;
    pthread_cond_signal(&request->done);
    pthread_mutex_unlock(&request->mutex);
    return NULL;
}
static void on_the_stack(void) {
    struct request request = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false};
    pthread_t thread;
    pthread_create(&thread, NULL, answers, &request);
    pthread_mutex_lock(&request.mutex);
    while (!request.is_done)
        pthread_cond_wait(&request.done, &request.mutex);
    pthread_mutex_unlock(&request.mutex);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&request.done);
    pthread_mutex_destroy(&request.mutex);
}

static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static void *reads_or_writes(void *arg) {
    if ((long)arg == 0) {
        pthread_rwlock_wrlock(&rwlock);
        counter++;
    } else {
        pthread_rwlock_rdlock(&rwlock);
        assert(counter == 0 || counter == 1);
    }
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}
static void read_write_lock(void) { in_threads(3, reads_or_writes); }

/* Looks with the lock for reading, and again with the one for writing. */
static void *upgrades(void *arg) {
    (void)arg;
    pthread_rwlock_rdlock(&rwlock);
    bool absent = counter == 0;
    pthread_rwlock_unlock(&rwlock);
    if (absent) {
        pthread_rwlock_wrlock(&rwlock);
        if (counter == 0)
            counter = 1;
        pthread_rwlock_unlock(&rwlock);
    }
    pthread_rwlock_rdlock(&rwlock);
    assert(counter == 1);
    pthread_rwlock_unlock(&rwlock);
    return NULL;
}
static void looked_at_again(void) { in_threads(2, upgrades); }

static pthread_barrier_t barrier;
static int shares[3];
static void *meets(void *arg) {
    long me = (long)arg;
    shares[me] = 1;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
        counter++;
    assert(shares[0] + shares[1] + shares[2] == 3);
    return NULL;
}
static void barrier_of_three(void) {
    pthread_barrier_init(&barrier, NULL, 3);
    in_threads(3, meets);
    assert(counter == 1);
    pthread_barrier_destroy(&barrier);
}

static pthread_spinlock_t spinlock;
static void *spins(void *arg) {
    (void)arg;
    while (pthread_spin_trylock(&spinlock))
        sched_yield();
    counter++;
    pthread_spin_unlock(&spinlock);
    return NULL;
}
static void spinlock_tried(void) {
    pthread_spin_init(&spinlock, PTHREAD_PROCESS_PRIVATE);
    in_threads(2, spins);
    assert(counter == 2);
    pthread_spin_destroy(&spinlock);
}

static sem_t semaphore, second;
static void *posts(void *arg) {
    (void)arg;
    counter = 5;
    sem_post(&semaphore);
    sem_wait(&second);
    assert(counter == 6);
    return NULL;
}
static void *answers_post(void *arg) {
    (void)arg;
    while (sem_wait(&semaphore) && errno == EINTR)
        ;
    assert(counter == 5);
    counter = 6;
    sem_post(&second);
    return NULL;
}
static void ping_pong(void) {
    sem_init(&semaphore, 0, 0);
    sem_init(&second, 0, 0);
    in_two(posts, answers_post);
    sem_destroy(&semaphore);
    sem_destroy(&second);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void initialise(void) { counter++; }
static void *initialised(void *arg) {
    (void)arg;
    pthread_once(&once, initialise);
    assert(counter == 1);
    return NULL;
}
static void once_for_three(void) { in_threads(3, initialised); }

/* Thread-specific data: the destructor works on what other threads' destructors work on. */
static pthread_key_t key;
static void let_go(void *value) {
    pthread_mutex_lock(&mutex);
    counter += *(int *)value;
    pthread_mutex_unlock(&mutex);
    free(value);
}
static void *has_own(void *arg) {
    int *mine = malloc(sizeof *mine);
    *mine = 1 + (int)(long)arg;
    pthread_setspecific(key, mine);
    assert(pthread_getspecific(key) == mine);
    return NULL;
}
static void specific_data(void) {
    pthread_key_create(&key, let_go);
    in_threads(3, has_own);
    assert(counter == 6);
    pthread_key_delete(key);
}
/* A destructor without a lock: the one that joined reads what it wrote. */
static void note_end(void *value) { *(int *)value = 1; }
static void *notes_end(void *arg) {
    pthread_setspecific(key, &shares[(long)arg]);
    return NULL;
}
static void destructor_before_join(void) {
    pthread_key_create(&key, note_end);
    in_threads(2, notes_end);
    assert(shares[0] == 1 && shares[1] == 1);
}

/* Cancelled where it waits; the mutex is given back on the way. */
static void give_back(void *arg) { pthread_mutex_unlock(arg); }
static void *waits_for_ever(void *arg) {
    (void)arg;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(give_back, &mutex);
    for (;;)
        pthread_cond_wait(&changed, &mutex);
    pthread_cleanup_pop(1);
    return NULL;
}
static void cancelled_wait(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, waits_for_ever, NULL);
    pthread_cancel(thread);
    void *result;
    pthread_join(thread, &result);
    assert(result == PTHREAD_CANCELED);
    assert(pthread_mutex_lock(&mutex) == 0);
    pthread_mutex_unlock(&mutex);
}

/* A detached thread says that it is done. */
static void *says_done(void *arg) {
    (void)arg;
    counter = 1;
    sem_post(&semaphore);
    return NULL;
}
static void detached(void) {
    sem_init(&semaphore, 0, 0);
    pthread_t thread;
    pthread_create(&thread, NULL, says_done, NULL);
    pthread_detach(thread);
    sem_wait(&semaphore);
    assert(counter == 1);
}

/* One thread joins another one that main made. */
static pthread_t other;
static void *adds_one(void *arg) {
    (void)arg;
    counter++;
    return NULL;
}
static void *joins_other(void *arg) {
    (void)arg;
    pthread_join(other, NULL);
    counter++;
    return NULL;
}
static void joined_by_another(void) {
    pthread_t thread;
    pthread_create(&other, NULL, adds_one, NULL);
    pthread_create(&thread, NULL, joins_other, NULL);
    pthread_join(thread, NULL);
    assert(counter == 2);
}

/* Tries to join until that succeeds. */
static void joined_by_trying(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, adds_one, NULL);
    while (pthread_tryjoin_np(thread, NULL) == EBUSY)
        sched_yield();
    assert(counter == 1);
}

/* Two threads with two locks in one order, and one that tries. */
static pthread_mutex_t inner = PTHREAD_MUTEX_INITIALIZER;
static void *in_order(void *arg) {
    if ((long)arg == 0) {
        for (;;) {
            pthread_mutex_lock(&inner);
            if (pthread_mutex_trylock(&mutex) == 0)
                break;
            pthread_mutex_unlock(&inner);
            sched_yield();
        }
    } else {
        pthread_mutex_lock(&mutex);
        pthread_mutex_lock(&inner);
    }
    counter++;
    pthread_mutex_unlock(&mutex);
    pthread_mutex_unlock(&inner);
    return NULL;
}
static void tried_in_other_order(void) {
    in_threads(2, in_order);
    assert(counter == 2);
}

/* Signals: one thread waits for them, all others block them. */
static void *sends_signal(void *arg) {
    (void)arg;
    counter = 3;
    kill(getpid(), SIGUSR1);
    return NULL;
}
static void waited_signal(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    pthread_t thread;
    pthread_create(&thread, NULL, sends_signal, NULL);
    int signal;
    assert(sigwait(&set, &signal) == 0 && signal == SIGUSR1);
    pthread_join(thread, NULL);
    assert(counter == 3);
}

/* A handler that posts a semaphore. */
static void on_signal(int signal) {
    (void)signal;
    sem_post(&semaphore);
}
static void *interrupts(void *arg) {
    (void)arg;
    pthread_kill(other, SIGUSR1);
    return NULL;
}
static void handler_posts(void) {
    sem_init(&semaphore, 0, 0);
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    other = pthread_self();
    pthread_t thread;
    pthread_create(&thread, NULL, interrupts, NULL);
    while (sem_wait(&semaphore))
        assert(errno == EINTR);
    pthread_join(thread, NULL);
}

/* What is written before a byte goes into a pipe is seen behind the read. */
static int ends[2];
static void *writes_byte(void *arg) {
    (void)arg;
    counter = 8;
    assert(write(ends[1], "x", 1) == 1);
    return NULL;
}
static void *reads_byte(void *arg) {
    (void)arg;
    char byte;
    assert(read(ends[0], &byte, 1) == 1 && byte == 'x');
    assert(counter == 8);
    return NULL;
}
static void pipe_handover(void) {
    assert(pipe(ends) == 0);
    in_two(writes_byte, reads_byte);
}
static void *polls_byte(void *arg) {
    struct pollfd one = {.fd = ends[0], .events = POLLIN};
    assert(poll(&one, 1, -1) == 1);
    return reads_byte(arg);
}
static void polled_socket(void) {
    int pair[2];
    assert(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    ends[0] = pair[0];
    ends[1] = pair[1];
    in_two(writes_byte, polls_byte);
}
static void *adds_event(void *arg) {
    (void)arg;
    counter = 8;
    assert(eventfd_write(ends[0], 1) == 0);
    return NULL;
}
static void *takes_event(void *arg) {
    (void)arg;
    eventfd_t value;
    assert(eventfd_read(ends[0], &value) == 0 && value == 1);
    assert(counter == 8);
    return NULL;
}
static void event_descriptor(void) {
    ends[0] = eventfd(0, 0);
    in_two(adds_event, takes_event);
}

/* A set of semaphores as a mutex. */
static int set;
static void *with_set(void *arg) {
    (void)arg;
    struct sembuf take = {0, -1, 0}, give = {0, 1, 0};
    assert(semop(set, &take, 1) == 0);
    counter++;
    assert(semop(set, &give, 1) == 0);
    return NULL;
}
static void semaphore_set(void) {
    set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf give = {0, 1, 0};
    assert(semop(set, &give, 1) == 0);
    in_threads(2, with_set);
    assert(counter == 2);
    semctl(set, 0, IPC_RMID);
}

/* C11's threads. */
static mtx_t c11_mutex;
static cnd_t c11_changed;
static int c11_body(void *arg) {
    (void)arg;
    mtx_lock(&c11_mutex);
    counter++;
    cnd_signal(&c11_changed);
    mtx_unlock(&c11_mutex);
    return 4;
}
static void c11_threads(void) {
    mtx_init(&c11_mutex, mtx_plain);
    cnd_init(&c11_changed);
    thrd_t thread;
    thrd_create(&thread, c11_body, NULL);
    mtx_lock(&c11_mutex);
    while (counter == 0)
        cnd_wait(&c11_changed, &c11_mutex);
    mtx_unlock(&c11_mutex);
    int result;
    thrd_join(thread, &result);
    assert(result == 4);
    cnd_destroy(&c11_changed);
    mtx_destroy(&c11_mutex);
}

/* main leaves by pthread_exit; the last one ends the process. */
static void *outlives(void *arg) {
    (void)arg;
    counter++;
    return NULL;
}
static void main_leaves(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, outlives, NULL);
    pthread_detach(thread);
    pthread_exit(NULL);
}

/* Handlers of fork keep the lock consistent in the parent. */
static void lock_it(void) { pthread_mutex_lock(&mutex); }
static void unlock_it(void) { pthread_mutex_unlock(&mutex); }
static void *forks(void *arg) {
    (void)arg;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert(child > 0);
    return NULL;
}
static void fork_handlers(void) {
    pthread_atfork(lock_it, unlock_it, unlock_it);
    in_two(counted, forks);
    assert(counter == 1);
}

#define ROW(name) {#name, name}
CASES(ROW(recursive), ROW(error_checking), ROW(inheriting), ROW(robust), ROW(robust_handed_over),
      ROW(bounded_buffer), ROW(signal_outside), ROW(broadcast), ROW(timed_wait), ROW(on_the_stack),
      ROW(read_write_lock), ROW(looked_at_again), ROW(barrier_of_three), ROW(spinlock_tried),
      ROW(ping_pong), ROW(once_for_three), ROW(specific_data), ROW(destructor_before_join),
      ROW(cancelled_wait), ROW(detached), ROW(joined_by_another), ROW(joined_by_trying),
      ROW(tried_in_other_order), ROW(waited_signal), ROW(handler_posts), ROW(pipe_handover),
      ROW(polled_socket), ROW(event_descriptor), ROW(semaphore_set), ROW(c11_threads),
      ROW(main_leaves), ROW(fork_handlers))
