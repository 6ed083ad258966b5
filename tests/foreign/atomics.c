// Every atomic operation of every width, and what it returns; then a lock-free counter that loses
// an update unless compare-exchange is one step.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#define OPERATIONS(type)                                                                 \
    do {                                                                                 \
        static type cell, expected;                                                      \
        __atomic_store_n(&cell, 5, __ATOMIC_RELEASE);                                    \
        assert(__atomic_load_n(&cell, __ATOMIC_ACQUIRE) == 5);                           \
        assert(__atomic_exchange_n(&cell, 6, __ATOMIC_ACQ_REL) == 5);                    \
        assert(__atomic_fetch_add(&cell, 3, __ATOMIC_RELAXED) == 6);                     \
        assert(__atomic_fetch_sub(&cell, 2, __ATOMIC_SEQ_CST) == 9);                     \
        assert(__atomic_fetch_and(&cell, 6, __ATOMIC_SEQ_CST) == 7);                     \
        assert(__atomic_fetch_or(&cell, 9, __ATOMIC_SEQ_CST) == 6);                      \
        assert(__atomic_fetch_xor(&cell, 3, __ATOMIC_SEQ_CST) == 15);                    \
        assert(__atomic_fetch_nand(&cell, 4, __ATOMIC_SEQ_CST) == 12);                   \
        assert(__atomic_load_n(&cell, __ATOMIC_SEQ_CST) == (type)~4);                    \
        expected = 1;                                                                    \
        assert(!__atomic_compare_exchange_n(&cell, &expected, 2, 0, __ATOMIC_SEQ_CST,    \
                                            __ATOMIC_RELAXED));                          \
        assert(expected == (type)~4);                                                    \
        while (!__atomic_compare_exchange_n(&cell, &expected, 2, 1, __ATOMIC_SEQ_CST,    \
                                            __ATOMIC_RELAXED))                           \
            ;                                                                            \
        assert(__sync_val_compare_and_swap(&cell, 2, 1) == 2);                           \
        assert(__atomic_load_n(&cell, __ATOMIC_SEQ_CST) == 1);                           \
    } while (0)

static long counter;

static void *add(void *unused) {
#ifdef FIXED
    long seen = __atomic_load_n(&counter, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&counter, &seen, seen + 1, 0, __ATOMIC_ACQ_REL,
                                        __ATOMIC_RELAXED))
        ;
#else
    long seen = __atomic_load_n(&counter, __ATOMIC_RELAXED);
    __atomic_store_n(&counter, seen + 1, __ATOMIC_RELAXED);
#endif
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_seq_cst);
    return unused;
}

static void *operations(void *unused) {
    OPERATIONS(unsigned char);
    OPERATIONS(unsigned short);
    OPERATIONS(unsigned);
    OPERATIONS(unsigned long);
#ifdef WIDE
    OPERATIONS(unsigned __int128);
#endif
    return unused;
}

int main(void) {
    pthread_t threads[3];
    pthread_create(&threads[0], 0, add, 0);
    pthread_create(&threads[1], 0, add, 0);
    pthread_create(&threads[2], 0, operations, 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], 0);
    assert(counter == 2);
    return 0;
}
