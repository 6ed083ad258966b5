// Ways of making a child, and what children do, for runs of every kind: the program must come to its
// end as it does by itself (with 0), whatever follows its threads and its values. The first argument
// names the way; with a second one a thread other than main makes the child.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern int __VERIFIER_nondet_int(void) __attribute__((weak));
extern char **environ;

// A copy of `mutex` may be held by a thread that the child does not have.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static pthread_key_t key;
static int shared, handled;
static _Atomic int counter;
static char text[32];

static void *count(void *unused) {
    (void)unused;
    pthread_mutex_lock(&mutex);
    shared++;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add(&counter, 1);
    return NULL;
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

// Of all sorts: locks, memory, atomics, blocks, texts, and what depends on an input of the parent.
static int work(int input) {
    int numbers[4] = {4, 2, 3, 1};
    pthread_mutex_lock(&own);
    shared += 2;
    pthread_mutex_unlock(&own);
    atomic_fetch_add(&counter, 1);
    int expected = 1;
    atomic_compare_exchange_strong(&counter, &expected, 5);
    char *block = malloc(64);
    memset(block, 'x', 63);
    block[63] = 0;
    memcpy(text, block, 8);
    text[8] = 0;
    qsort(numbers, 4, sizeof *numbers, compare);
    int fine = strlen(text) == 8 && strcmp(text, "xxxxxxxx") == 0 && numbers[0] == 1 &&
               atoi("17") == 17 && strtol("12", NULL, 10) == 12 && shared >= 2;
    if (input * 2 + 1 > 4 && input > 100)
        fine = fine && input + 1 > 101;
    switch (input) {
    case 1:
        fine = fine && input == 1;
        break;
    }
    free(block);
    return fine ? 0 : 3;
}

static void *work_in_thread(void *unused) {
    (void)unused;
    return (void *)(intptr_t)work(0);
}

static int wait_for(pid_t child) {
    int status = -1;
    if (child <= 0 || waitpid(child, &status, 0) != child)
        return 10;
    return status == 0 ? 0 : 11;
}

static int entry(void *input) { return work(*(int *)input); }
static int entry_exits(void *unused) {
    (void)unused;
    _exit(0);
}
static void handler(int signal) { handled = signal; }
static void before_fork(void) { pthread_mutex_lock(&mutex); }
static void after_fork(void) { pthread_mutex_unlock(&mutex); }
static void destructor(void *value) { (void)value; }

static int spawns(char *const arguments[]) {
    pid_t child;
    if (posix_spawnp(&child, arguments[0], NULL, NULL, arguments, environ) != 0)
        return 12;
    return wait_for(child);
}

// Returns to main in the child.
static int stays(const char *way, int input, pid_t *child) {
    char *sh[] = {"sh", "-c", "exit 0", NULL};
    if (!strcmp(way, "fork"))
        *child = fork();
    else if (!strcmp(way, "_Fork"))
        *child = _Fork();
    else if (!strcmp(way, "syscall"))
        *child = syscall(SYS_fork);
    else if (!strcmp(way, "clone-syscall"))
        *child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    else if (!strcmp(way, "fork-twice")) {
        *child = fork();
        if (*child == 0) {
            pid_t inner = fork();
            if (inner == 0)
                _exit(work(input));
            _exit(wait_for(inner) | work(input));
        }
    } else if (!strcmp(way, "fork-exits")) {
        *child = fork();
        if (*child == 0)
            exit(work(input));
    } else if (!strcmp(way, "fork-aborts")) {
        *child = fork();
        if (*child == 0)
            abort();
        int status;
        return waitpid(*child, &status, 0) == *child && WIFSIGNALED(status) ? 0 : 13;
    } else if (!strcmp(way, "fork-thread")) {
        *child = fork();
        if (*child == 0) {
            pthread_t thread;
            void *result = NULL;
            pthread_create(&thread, NULL, work_in_thread, NULL);
            pthread_join(thread, &result);
            _exit((int)(intptr_t)result);
        }
    } else if (!strcmp(way, "fork-execs")) {
        *child = fork();
        if (*child == 0) {
            execvp(sh[0], sh);
            _exit(127);
        }
    } else if (!strcmp(way, "fork-signals")) {
        *child = fork();
        if (*child == 0) {
            signal(SIGUSR1, handler);
            raise(SIGUSR1);
            _exit(handled == SIGUSR1 ? work(input) : 4);
        }
    } else if (!strcmp(way, "fork-handlers")) {
        pthread_atfork(before_fork, after_fork, after_fork);
        *child = fork();
        if (*child == 0) {
            pthread_mutex_lock(&mutex);
            pthread_mutex_unlock(&mutex);
            _exit(work(input));
        }
    } else if (!strcmp(way, "fork-key")) {
        pthread_key_create(&key, destructor);
        pthread_setspecific(key, text);
        *child = fork();
        if (*child == 0)
            _exit(pthread_getspecific(key) == text ? work(input) : 4);
    } else if (!strcmp(way, "fork-maps")) {
        *child = fork();
        if (*child == 0) {
            char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            page[17] = 1;
            _exit(page[17] == 1 ? work(input) : 4);
        }
    } else if (!strcmp(way, "fork-writes")) {
        int ends[2];
        if (pipe(ends))
            return 14;
        *child = fork();
        if (*child == 0) {
            int result = work(input);
            _exit(write(ends[1], text, 9) == 9 ? result : 4);
        }
        char read_back[9] = "";
        int result = wait_for(*child);
        if (read(ends[0], read_back, 9) != 9 || strcmp(read_back, "xxxxxxxx"))
            return 15;
        return result;
    } else if (!strcmp(way, "vfork-execs")) {
        *child = vfork();
        if (*child == 0) {
            execvp(sh[0], sh);
            _exit(127);
        }
    } else if (!strcmp(way, "vfork-exits")) {
        *child = vfork();
        if (*child == 0)
            _exit(0);
    } else if (!strcmp(way, "vfork-stores")) {
        volatile int stored = 0, stored_too = 0;
        *child = vfork();
        if (*child == 0) {
            stored = 7;
            stored_too = 9;
            _exit(0);
        }
        if (stored != 7 || stored_too != 9)
            return 16;
    } else if (!strcmp(way, "clone")) {
        char *stack = malloc(65536);
        *child = clone(entry, stack + 65536, SIGCHLD, &input);
    } else if (!strcmp(way, "clone-vfork")) {
        char *stack = malloc(65536);
        *child = clone(entry_exits, stack + 65536, CLONE_VM | CLONE_VFORK | SIGCHLD, NULL);
    } else if (!strcmp(way, "posix_spawn"))
        return spawns(sh);
    else if (!strcmp(way, "system"))
        return system("exit 0") == 0 ? 0 : 17;
    else if (!strcmp(way, "popen-reads")) {
        char line[16] = "";
        FILE *stream = popen("echo hello", "r");
        if (!stream || !fgets(line, sizeof line, stream) || strcmp(line, "hello\n"))
            return 18;
        return pclose(stream) == 0 ? 0 : 19;
    } else if (!strcmp(way, "popen-writes")) {
        FILE *stream = popen("read line; test \"$line\" = hello", "w");
        if (!stream)
            return 20;
        fputs("hello\n", stream);
        return pclose(stream) == 0 ? 0 : 21;
    } else if (!strcmp(way, "daemon"))
        return daemon(1, 1) == 0 ? 0 : 22;
    else
        return 64;
    if (*child == 0)
        return work(input);
    return wait_for(*child);
}

static char **options;
static int input;

// A child that comes here has one thread, and ends by its return.
static void *makes(void *ends) {
    pid_t child = -1;
    int result = stays(options[1], input, &child);
    if (child == 0) {
        if (result != 0)
            _exit(result);
        *(int *)ends = 1;
    }
    return (void *)(intptr_t)result;
}

int main(int count_of_options, char **all) {
    if (count_of_options < 2)
        return 64;
    options = all;
    input = __VERIFIER_nondet_int ? __VERIFIER_nondet_int() : 0;
    pthread_t thread, maker;
    if (pthread_create(&thread, NULL, count, NULL) != 0)
        return 23;
    int ends = 0;
    void *result;
    if (count_of_options > 2) {
        pthread_create(&maker, NULL, makes, &ends);
        pthread_join(maker, &result);
    } else {
        result = makes(&ends);
    }
    if (ends)
        return (int)(intptr_t)result;
    pthread_join(thread, NULL);
    // What a parent computes is still followed.
    if (input == 12345 && result == NULL)
        shared = input;
    return (int)(intptr_t)result;
}
