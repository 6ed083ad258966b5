/* What the outcome programs share: their exit status is what they computed, so that the set of
 * exit statuses over all schedules (and inputs) is the set of outcomes. Shared variables are
 * volatile, so that the compiler keeps every access. */
#ifndef OUTCOME_H
#define OUTCOME_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

int __VERIFIER_nondet_int(void);
void raddle_assume(int condition);

/* Input number k from low to high: fixed by the compiler (-DINPUT0=3 -DINPUT1=0) for brute force,
 * otherwise symbolic. */
#if defined INPUT0 && !defined INPUT1
#define INPUT1 0
#endif
static inline int input(int k, int low, int high)
{
#ifdef INPUT0
    (void)low, (void)high;
    return k == 0 ? INPUT0 : INPUT1;
#else
    int v = __VERIFIER_nondet_int();
    (void)k;
    raddle_assume(v >= low && v <= high);
    return v;
#endif
}

/* Runs one function in a thread of its own and the other one in main: far fewer interleavings than
 * two children have. */
static inline void run2(void *(*f)(void *), void *(*g)(void *))
{
    pthread_t t;
    pthread_create(&t, NULL, f, NULL);
    g(NULL);
    pthread_join(t, NULL);
}

/* Runs two threads from creation to join. */
static inline void run2_children(void *(*f)(void *), void *(*g)(void *))
{
    pthread_t s, t;
    pthread_create(&s, NULL, f, NULL);
    pthread_create(&t, NULL, g, NULL);
    pthread_join(s, NULL);
    pthread_join(t, NULL);
}

#endif
