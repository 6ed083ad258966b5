// Threads that pass bytes to each other by pipes and event counters. Each scenario has a bug that
// depends on the interleaving; fixed: without.
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int there[2], back[2], counter;
static int prepared;

static void put(int fd, char c) {
    if (write(fd, &c, 1) != 1)
        _exit(1);
}

static char get(int fd) {
    char c;
    if (read(fd, &c, 1) != 1)
        _exit(1);
    return c;
}

#if SCENARIO == 0
// The message comes before what it says is there.
static void *first(void *unused) {
#ifdef FIXED
    prepared = 1;
    put(there[1], 'p');
#else
    put(there[1], 'p');
    prepared = 1;
#endif
    return unused;
}
static void *second(void *unused) { return unused; }
static void rest(void) {
    assert(get(there[0]) == 'p');
    assert(prepared);
}

#elif SCENARIO == 1
// Who writes first is not said.
static void *first(void *unused) {
    put(there[1], 'a');
    return unused;
}
static void *second(void *unused) {
    put(there[1], 'b');
    return unused;
}
static void rest(void) {
    char one = get(there[0]), other = get(there[0]);
#ifdef FIXED
    assert(one != other && one + other == 'a' + 'b');
#else
    assert(one == 'a' && other == 'b');
#endif
}

#elif SCENARIO == 2
// A read takes what is there.
static void *first(void *unused) {
    put(there[1], 1);
    put(there[1], 2);
    return unused;
}
static void *second(void *unused) { return unused; }
static void rest(void) {
    char got[2] = {0, 0};
#ifdef FIXED
    for (int n = 0; n < 2;)
        n += read(there[0], got + n, 2 - n);
#else
    (void)!read(there[0], got, 2);
#endif
    assert(got[0] == 1 && got[1] == 2);
}

#elif SCENARIO == 3
// Each waits for the other's question.
static void *first(void *unused) {
    put(there[1], '?');
    get(back[0]);
    return unused;
}
static void *second(void *unused) {
#ifdef FIXED
    get(there[0]);
    put(back[1], '!');
#else
    prepared = 1;
    get(there[0]);
    if (prepared == 1)
        put(back[1], '!');
#endif
    return unused;
}
static void rest(void) {
#ifndef FIXED
    prepared = 2;
#endif
}

#elif SCENARIO == 4
// A counter tells of both only if it is read after both.
static void *add(void *unused) {
    uint64_t one = 1;
    if (write(counter, &one, sizeof one) != sizeof one)
        _exit(1);
    return unused;
}
#define first add
#define second add
static void rest(void) {
    uint64_t all = 0;
#ifdef FIXED
    while (all < 2) {
        uint64_t more;
        if (read(counter, &more, sizeof more) != sizeof more)
            _exit(1);
        all += more;
    }
#else
    (void)!read(counter, &all, sizeof all);
#endif
    assert(all == 2);
}

#elif SCENARIO == 5
// A pipe with one byte in it as a lock.
static int balance = 10;
static void *pay(void *unused) {
#ifdef FIXED
    get(there[0]);
    if (balance >= 10)
        balance -= 10;
    put(there[1], 'l');
#else
    get(there[0]);
    int enough = balance >= 10;
    put(there[1], 'l');
    get(there[0]);
    if (enough)
        balance -= 10;
    put(there[1], 'l');
#endif
    return unused;
}
#define first pay
#define second pay
#define LATE
static void rest(void) { assert(balance == 0); }

#elif SCENARIO == 6
// What is read comes into memory that another thread looks at.
static char box;
static void *first(void *unused) {
    put(there[1], 'x');
    return unused;
}
static void *second(void *unused) {
    char seen = box;
#ifdef FIXED
    assert(seen == 'x' || seen == 0);
#else
    assert(seen == 'x');
#endif
    return unused;
}
static void rest(void) { (void)!read(there[0], &box, 1); }

#elif SCENARIO == 7
// What is written comes from memory that another thread changes.
static char box = 'x';
static void *first(void *unused) {
    (void)!write(there[1], &box, 1);
    return unused;
}
static void *second(void *unused) {
    box = 'y';
    return unused;
}
static void rest(void) {
    char got = get(there[0]);
#ifdef FIXED
    assert(got == 'x' || got == 'y');
#else
    assert(got == 'x');
#endif
}
#endif

int main(void) {
    pthread_t threads[2];
    if (pipe(there) || pipe(back))
        return 1;
    counter = eventfd(0, 0);
#ifdef LATE
    put(there[1], 'l');
#endif
    pthread_create(&threads[0], 0, first, 0);
    pthread_create(&threads[1], 0, second, 0);
#ifndef LATE
    rest();
#endif
    pthread_join(threads[0], 0);
    pthread_join(threads[1], 0);
#ifdef LATE
    rest();
#endif
    close(there[0]);
    close(there[1]);
    close(counter);
    return 0;
}
