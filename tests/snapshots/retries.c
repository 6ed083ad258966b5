// Threads without locks that retry, wait and pass values on, each as the seed in the first argument has
// it. Some loops end by what no hook tells.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { WORDS = 3, LENGTH = 3 };
static _Atomic int words[WORDS];
static unsigned long seed;

static unsigned draw(unsigned long *state, unsigned below) {
    *state = *state * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(*state >> 33) % below;
}

static void exchange_until_had(_Atomic int *word, int by) {
    int expected = atomic_load(word);
    while (!atomic_compare_exchange_strong(word, &expected, expected + by)) {
    }
}

static void borrow(_Atomic int *word, int value) {
    for (int i = 0; atomic_exchange(word, -1) < 0 && i < 20; i++) {
    }
    atomic_store(word, value);
}

static void wait_while(_Atomic int *word, int value) {
    for (int i = 0; atomic_load(word) == value && i < 60; i++) {
    }
}

// As SafeStack pops: takes a link away, and puts it back if another one was faster.
static void pop(_Atomic int *head, _Atomic int *link, _Atomic int *count) {
    while (atomic_load(count) > 1 && rand() % 50) {
        int first = atomic_load(head);
        int next = atomic_exchange(link, -1);
        if (next < 0)
            continue;
        if (atomic_compare_exchange_strong(head, &first, next)) {
            atomic_fetch_sub(count, 1);
            return;
        }
        atomic_exchange(link, next);
    }
}

static void wait_unseen(_Atomic int *word, int value) {
    while (atomic_load(word) == value && rand() % 100) {
    }
}

static void *work(void *number) {
    unsigned long state = seed * 31 + (unsigned long)number;
    for (int i = 0; i < LENGTH; i++) {
        unsigned a = draw(&state, WORDS), b = draw(&state, WORDS), c = draw(&state, WORDS);
        int value = (int)draw(&state, 3);
        switch (draw(&state, 5)) {
        case 0:
            exchange_until_had(&words[a], value + 1);
            break;
        case 1:
            borrow(&words[a], value);
            break;
        case 2:
            wait_while(&words[a], value);
            break;
        case 3:
            pop(&words[a], &words[b], &words[c]);
            break;
        default:
            wait_unseen(&words[a], value);
        }
    }
    return NULL;
}

int main(int count, char **arguments) {
    seed = count > 1 ? strtoul(arguments[1], NULL, 10) : 0;
    atomic_store(&words[2], 3);
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
