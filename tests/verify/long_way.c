/* A thread that goes on for long by decisions alone. It ends; with -DENDLESS it does not, with -DBUG
 * what it finds in the end is wrong. */
#include <assert.h>
#include <pthread.h>
#include <raddle.h>

enum { LONG = 3 * 1000 * 1000 };

static unsigned char wanted;

static void *count(void *unused) {
    unsigned most = wanted < 7 ? wanted : wanted == 7 ? LONG + wanted : 0;
    unsigned rounds = 0;
    while (rounds < most) {
        rounds++;
#ifdef ENDLESS
        if (rounds > LONG)
            rounds = 1;
#endif
    }
#ifdef BUG
    assert(rounds < LONG);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    raddle_symbolic(&wanted, sizeof wanted, "wanted");
    pthread_create(&thread, 0, count, 0);
    pthread_join(thread, 0);
    return 0;
}
