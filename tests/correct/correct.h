/* Programs without a bug, several to a file: `PROGRAM` prints the names of its cases, `PROGRAM NAME` runs
   one. Each case has a way of synchronisation of its own, and checks what that way promises. */
#ifndef CORRECT_H
#define CORRECT_H

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

/* Runs the threads to their ends; each gets its number. */
#define MOST_THREADS 4
static inline void in_threads(int count, void *(*body)(void *)) {
    pthread_t threads[MOST_THREADS];
    for (long i = 0; i < count; i++)
        assert(pthread_create(&threads[i], NULL, body, (void *)i) == 0);
    for (int i = 0; i < count; i++)
        assert(pthread_join(threads[i], NULL) == 0);
}

/* Runs two different ones. */
static inline void in_two(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t a, b;
    assert(pthread_create(&a, NULL, one, NULL) == 0);
    assert(pthread_create(&b, NULL, other, NULL) == 0);
    assert(pthread_join(a, NULL) == 0);
    assert(pthread_join(b, NULL) == 0);
}

#define CASES(...)                                                                                 \
    int main(int argc, char **argv) {                                                              \
        static const struct test_case cases[] = {__VA_ARGS__};                                     \
        for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)                                \
            if (argc < 2)                                                                          \
                puts(cases[i].name);                                                               \
            else if (strcmp(argv[1], cases[i].name) == 0) {                                        \
                cases[i].run();                                                                    \
                return 0;                                                                          \
            }                                                                                      \
        return argc < 2 ? 0 : 2;                                                                   \
    }

#endif
