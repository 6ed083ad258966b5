// Two defects of the same sort, in two functions: BUG has a bit for each. HOW says how the program
// ends for them (5: it does not, they are deadlocks; 9: they are, of locks that a function of the
// program's takes), SAY whether it prints anything.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DEADLOCKS (HOW == 5 || HOW == 9)
#if HOW == 9
#define LOCK(lock) take(lock)
#else
#define LOCK(lock) pthread_mutex_lock(lock)
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t n = PTHREAD_MUTEX_INITIALIZER;
static int pays, adds;

static int get(int *value)
{
    pthread_mutex_lock(&m);
    int got = *value;
    pthread_mutex_unlock(&m);
    return got;
}

static void set(int *value, int to)
{
    pthread_mutex_lock(&m);
    *value = to;
    pthread_mutex_unlock(&m);
}

static void *increment(void *value)
{
    if (!DEADLOCKS && (value == &pays ? BUG & 1 : BUG & 2)) {
        set(value, get(value) + 1);
    } else {
        pthread_mutex_lock(&m);
        ++*(int *)value;
        pthread_mutex_unlock(&m);
    }
    return 0;
}

__attribute__((noinline)) static void take(pthread_mutex_t *lock)
{
    pthread_mutex_lock(lock);
    __asm__ volatile(""); // The call is not the last thing that it does.
}

static void *other_order(void *unused)
{
    LOCK(&n);
    LOCK(&m);
    pthread_mutex_unlock(&m);
    pthread_mutex_unlock(&n);
    return unused;
}

__attribute__((noinline)) static void end(void)
{
    switch (HOW) {
    case 1: exit(1);
    case 2: _exit(1);
    case 3: abort();
    case 4: __builtin_trap();
    case 6: kill(getpid(), SIGKILL); break;
    case 7: pthread_kill(pthread_self(), SIGTERM); break;
    case 8: {
        int ends[2];
        if (pipe(ends) || close(ends[0]))
            exit(3);
        if (write(ends[1], "x", 1)) // SIGPIPE
            exit(4);
    }
    }
}

/// Is the sum wrong?
static int count(int *value, const char *what)
{
    static char here[4096];
    pthread_t one, two;
    pthread_create(&one, 0, increment, value);
    pthread_create(&two, 0, increment, value);
    pthread_join(one, 0);
    pthread_join(two, 0);
    if (SAY && *value != 2)
        fprintf(stderr, "%s: %s in %s is wrong: %d at %p\n", __FILE__, what, getcwd(here, sizeof here),
                *value, (void *)value);
    return *value != 2;
}

// Takes the locks in this order, while another thread takes them in the other.
#define CROSS()                                    \
    do {                                           \
        pthread_t one;                             \
        pthread_create(&one, 0, other_order, 0);   \
        LOCK(&m);                                  \
        LOCK(&n);                                  \
        pthread_mutex_unlock(&n);                  \
        pthread_mutex_unlock(&m);                  \
        pthread_join(one, 0);                      \
    } while (0)

__attribute__((noinline)) static int pay(void)
{
    if (DEADLOCKS && BUG & 1)
        CROSS();
    int wrong = count(&pays, "pay");
    if (wrong && HOW)
        end();
    return wrong;
}

__attribute__((noinline)) static int add(void)
{
    if (DEADLOCKS && BUG & 2)
        CROSS();
    int wrong = count(&adds, "add");
    if (wrong && HOW)
        end();
    return wrong;
}

int main(void)
{
    if (SAY) { // Both are tried, whatever comes of the first.
        int wrong = pay();
        return add() | wrong;
    }
    if (pay())
        return 1;
    if (add())
        return 1;
    return 0;
}
