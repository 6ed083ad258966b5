/* Loops that poll a bounded number of times. HOW: which. Up to 5 the rounds hand on nothing but their
 * count, so one in vain stands for all 1,000 of them; in the others it does not, though they look alike.
 * Each has an assertion that holds, and with -DBUGGY one that fails in a way that has to be found. */
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifdef BUGGY
#define WRONG(condition) assert(!(condition))
#else
#define WRONG(condition) (void)(condition)
#endif

static atomic_int flag, other, lock;
static int value, done;

static void *thread(void *unused)
{
#if HOW <= 1 || HOW >= 3 && HOW <= 5
    value = 1;
    flag = 1;
#elif HOW == 2
    int free = 0;
    for (int i = 0; i < 1000; i++, free = 0)
        if (atomic_compare_exchange_strong(&lock, &free, 1)) {
            done++;
            lock = 0;
            break;
        }
#elif HOW == 7
    flag = 5;
#elif HOW == 8 || HOW == 9
    other = 1;
#else
    flag = 1;
#endif
    return unused;
}

int main(void)
{
    pthread_t id;
#if HOW == 7
    flag = 7;
#endif
    pthread_create(&id, 0, thread, 0);
    bool seen = false;
#if HOW == 0 /* a count that goes up */
    for (int i = 0; i < 1000 && !flag; i++)
        sched_yield();
    seen = flag;
#elif HOW == 1 /* one that goes down, and what was read is used behind the loop */
    int last = 0;
    for (unsigned left = 1000; left; left--) {
        last = flag;
        if (last == 1)
            break;
    }
    seen = last;
#elif HOW == 2 /* attempts to take a lock */
    int free = 0;
    for (int i = 0; i < 1000; i++, free = 0)
        if (atomic_compare_exchange_strong(&lock, &free, 1)) {
            seen = true;
            done++;
            lock = 0;
            break;
        }
#elif HOW == 3 /* the count says how to wait */
    for (int i = 0; i < 1000; i++) {
        if (flag) {
            seen = true;
            break;
        }
        if (i < 10)
            __builtin_ia32_pause();
        else
            sched_yield();
    }
#elif HOW == 4 /* tested at the end */
    int i = 0;
    do {
        if (flag == 1) {
            seen = true;
            break;
        }
    } while (++i != 1000);
#elif HOW == 5 /* in a loop that waits */
    for (;;) {
        for (int i = 0; i < 1000; i++)
            if (flag)
                goto out;
        sched_yield();
    }
out:
    seen = true;
#elif HOW == 6 /* the number of rounds is used */
    int rounds = 0;
    while (rounds < 4 && !flag)
        rounds++;
    WRONG(rounds == 3);
#elif HOW == 7 /* what is read first and what is read then cannot both be in vain twice */
    bool other_way = false;
    for (int i = 0; i < 2 && !seen && !other_way; i++) {
        seen = flag == 5;
        if (!seen)
            other_way = flag == 7;
    }
    assert(seen || other_way);
    WRONG(seen);
#elif HOW == 8 /* a second test behind the one of the count */
    for (int i = 0;;) {
        if (flag)
            break;
        if (++i >= 3)
            break;
        if (other) {
            seen = true;
            break;
        }
    }
    WRONG(seen);
#elif HOW == 9 /* the count says what is read */
    for (int i = 0; i < 4; i++)
        if (i % 2 ? other : flag) {
            seen = true;
            break;
        }
    WRONG(seen);
#elif HOW == 10 /* where it lies, too */
    static atomic_int all[4] = {0, 0, 1, 0};
    for (int i = 0; i < 4; i++)
        if (all[i]) {
            seen = true;
            break;
        }
    assert(seen);
    WRONG(flag);
#elif HOW == 11 /* each round changes something */
    for (int i = 0; i < 4; i++)
        if (atomic_fetch_add(&other, 1) == 2 && flag) {
            seen = true;
            break;
        }
    WRONG(seen);
    WRONG(other == 3);
#elif HOW == 12 /* the last round hands on what it read */
    int last = 0;
    for (int i = 0; i < 3; i++)
        last += flag;
    WRONG(last == 2);
#endif
#if HOW <= 5 && HOW != 2
    if (seen)
        assert(value == 1);
#endif
#if HOW <= 4
    WRONG(!seen);
#elif HOW == 5
    WRONG(seen);
#endif
    pthread_join(id, 0);
    assert(done < 3);
    return 0;
}
