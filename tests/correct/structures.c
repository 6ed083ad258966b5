/* Lock-free structures, publication, and ways to free what others may still read. */
#include "correct.h"
#include <stdbool.h>

struct node {
    int value;
    _Atomic(struct node *) next;
};

static struct node *node_of(int value) {
    struct node *made = malloc(sizeof *made);
    made->value = value;
    atomic_init(&made->next, NULL);
    return made;
}

static _Atomic(struct node *) top;
static void push(struct node *one) {
    struct node *seen = atomic_load_explicit(&top, memory_order_relaxed);
    do
        atomic_store_explicit(&one->next, seen, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&top, &seen, one, memory_order_release,
                                                  memory_order_relaxed));
}

/* Treiber's stack; all is popped at once, so nothing comes back. */
static void *treiber_body(void *arg) {
    push(node_of((int)(long)arg + 1));
    return NULL;
}
static void treiber_take_all(void) {
    in_threads(3, treiber_body);
    int sum = 0;
    for (struct node *one = atomic_exchange(&top, NULL); one;) {
        struct node *next = atomic_load(&one->next);
        sum += one->value;
        free(one);
        one = next;
    }
    assert(sum == 6);
}

/* Pops one by one; nodes are never given back. */
static struct node pool[4];
static void *treiber_pop(void *arg) {
    (void)arg;
    struct node *seen = atomic_load_explicit(&top, memory_order_acquire);
    while (seen && !atomic_compare_exchange_weak_explicit(&top, &seen, atomic_load(&seen->next),
                                                          memory_order_acq_rel, memory_order_acquire))
        ;
    return seen ? (void *)(long)seen->value : NULL;
}
static void treiber_pops(void) {
    for (int i = 0; i < 2; i++) {
        pool[i].value = 1 << i;
        push(&pool[i]);
    }
    pthread_t a, b;
    void *one, *other;
    pthread_create(&a, NULL, treiber_pop, NULL);
    pthread_create(&b, NULL, treiber_pop, NULL);
    pthread_join(a, &one);
    pthread_join(b, &other);
    assert((long)one + (long)other == 3);
}

/* Michael and Scott's queue, without reuse. */
static _Atomic(struct node *) head, tail;
static void enqueue(struct node *one) {
    for (;;) {
        struct node *last = atomic_load(&tail), *next = atomic_load(&last->next);
        if (next) {
            atomic_compare_exchange_strong(&tail, &last, next);
        } else if (atomic_compare_exchange_strong(&last->next, &next, one)) {
            atomic_compare_exchange_strong(&tail, &last, one);
            return;
        }
    }
}
static struct node *dequeue(void) {
    for (;;) {
        struct node *first = atomic_load(&head), *last = atomic_load(&tail);
        struct node *next = atomic_load(&first->next);
        if (!next)
            return NULL;
        if (first == last)
            atomic_compare_exchange_strong(&tail, &last, next);
        else if (atomic_compare_exchange_strong(&head, &first, next))
            return next;
    }
}
static void *queue_in(void *arg) {
    (void)arg;
    enqueue(&pool[1]);
    return NULL;
}
static void *queue_out(void *arg) {
    (void)arg;
    struct node *got = dequeue();
    assert(!got || got->value == 9);
    return NULL;
}
static void michael_scott(void) {
    pool[1].value = 9;
    atomic_store(&head, &pool[0]);
    atomic_store(&tail, &pool[0]);
    in_two(queue_in, queue_out);
}

/* Lamport's ring for one producer and one consumer. */
static int ring[2];
static atomic_uint ring_in, ring_out;
static void *ring_producer(void *arg) {
    (void)arg;
    for (unsigned i = 0; i < 3; i++) {
        while (i - atomic_load_explicit(&ring_out, memory_order_acquire) == 2)
            ;
        ring[i % 2] = (int)i;
        atomic_store_explicit(&ring_in, i + 1, memory_order_release);
    }
    return NULL;
}
static void *ring_consumer(void *arg) {
    (void)arg;
    for (unsigned i = 0; i < 3; i++) {
        while (atomic_load_explicit(&ring_in, memory_order_acquire) == i)
            ;
        assert(ring[i % 2] == (int)i);
        atomic_store_explicit(&ring_out, i + 1, memory_order_release);
    }
    return NULL;
}
static void single_producer_ring(void) { in_two(ring_producer, ring_consumer); }

/* Vyukov's bounded queue for many. */
struct cell {
    atomic_uint turn;
    int value;
};
static struct cell cells[2] = {{0, 0}, {1, 0}};
static atomic_uint cells_in, cells_out;
static bool cells_put(int value) {
    unsigned at = atomic_load_explicit(&cells_in, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % 2];
        int ahead = (int)(atomic_load_explicit(&cell->turn, memory_order_acquire) - at);
        if (ahead < 0)
            return false;
        if (ahead > 0)
            at = atomic_load_explicit(&cells_in, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(&cells_in, &at, at + 1, memory_order_relaxed,
                                                       memory_order_relaxed)) {
            cell->value = value;
            atomic_store_explicit(&cell->turn, at + 1, memory_order_release);
            return true;
        }
    }
}
static int cells_get(void) {
    unsigned at = atomic_load_explicit(&cells_out, memory_order_relaxed);
    for (;;) {
        struct cell *cell = &cells[at % 2];
        int ahead = (int)(atomic_load_explicit(&cell->turn, memory_order_acquire) - (at + 1));
        if (ahead < 0)
            return 0;
        if (ahead > 0)
            at = atomic_load_explicit(&cells_out, memory_order_relaxed);
        else if (atomic_compare_exchange_weak_explicit(&cells_out, &at, at + 1,
                                                       memory_order_relaxed, memory_order_relaxed)) {
            int value = cell->value;
            atomic_store_explicit(&cell->turn, at + 2, memory_order_release);
            return value;
        }
    }
}
static void *cells_body(void *arg) {
    long me = (long)arg;
    if (me < 2)
        assert(cells_put((int)me + 1));
    else {
        int got = cells_get();
        assert(got >= 0 && got <= 2);
    }
    return NULL;
}
static void bounded_many_to_many(void) {
    in_threads(3, cells_body);
    assert(cells_get() > 0);
}

/* Chase and Lev's deque with one item: the owner takes, a thief steals. */
static atomic_long bottom, deque_top;
static atomic_int deque[2];
static atomic_int taken;
static void *deque_owner(void *arg) {
    (void)arg;
    atomic_store(&deque[0], 4);
    atomic_store(&bottom, 1);
    long at = atomic_load(&bottom) - 1;
    atomic_store(&bottom, at);
    long first = atomic_load(&deque_top);
    if (first <= at) {
        if (first != at || atomic_compare_exchange_strong(&deque_top, &first, first + 1))
            atomic_fetch_add(&taken, 1);
        if (first == at || first == at + 1)
            atomic_store(&bottom, at + 1);
    } else
        atomic_store(&bottom, at + 1);
    return NULL;
}
static void *deque_thief(void *arg) {
    (void)arg;
    long first = atomic_load(&deque_top);
    if (first < atomic_load(&bottom)) {
        int item = atomic_load(&deque[first % 2]);
        if (atomic_compare_exchange_strong(&deque_top, &first, first + 1)) {
            assert(item == 4);
            atomic_fetch_add(&taken, 1);
        }
    }
    return NULL;
}
static void work_stealing_deque(void) {
    in_two(deque_owner, deque_thief);
    assert(atomic_load(&taken) == 1);
}

/* Who loses the race to publish throws its own away. */
static _Atomic(int *) published;
static int *published_get(void) {
    int *seen = atomic_load_explicit(&published, memory_order_acquire);
    if (seen)
        return seen;
    int *mine = malloc(sizeof *mine);
    *mine = 42;
    if (atomic_compare_exchange_strong_explicit(&published, &seen, mine, memory_order_acq_rel,
                                                memory_order_acquire))
        return mine;
    free(mine);
    return seen;
}
static void *publish_body(void *arg) {
    (void)arg;
    assert(*published_get() == 42);
    return NULL;
}
static void publish_by_exchange(void) {
    in_threads(3, publish_body);
    free(atomic_load(&published));
}

/* Double-checked locking with the orders that it needs. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int initialised;
static int *checked_get(void) {
    int *seen = atomic_load_explicit(&published, memory_order_acquire);
    if (!seen) {
        pthread_mutex_lock(&mutex);
        seen = atomic_load_explicit(&published, memory_order_relaxed);
        if (!seen) {
            initialised++;
            seen = malloc(sizeof *seen);
            *seen = 42;
            atomic_store_explicit(&published, seen, memory_order_release);
        }
        pthread_mutex_unlock(&mutex);
    }
    return seen;
}
static void *checked_body(void *arg) {
    (void)arg;
    assert(*checked_get() == 42);
    return NULL;
}
static void double_checked(void) {
    in_threads(3, checked_body);
    assert(initialised == 1);
    free(atomic_load(&published));
}

/* The last one that lets go frees, behind a fence. */
struct counted {
    atomic_int owners;
    int value;
};
static struct counted *shared;
static void *owner_body(void *arg) {
    (void)arg;
    assert(shared->value == 3);
    if (atomic_fetch_sub_explicit(&shared->owners, 1, memory_order_release) == 1) {
        atomic_thread_fence(memory_order_acquire);
        shared->value = 0;
        free(shared);
    }
    return NULL;
}
static void counted_owners(void) {
    shared = malloc(sizeof *shared);
    atomic_init(&shared->owners, 3);
    shared->value = 3;
    in_threads(3, owner_body);
}

/* A hazard pointer: what a reader has announced is not freed. */
static _Atomic(int *) current, hazard;
static void *hazard_reader(void *arg) {
    (void)arg;
    int *seen;
    do {
        seen = atomic_load(&current);
        atomic_store(&hazard, seen);
    } while (seen != atomic_load(&current));
    assert(*seen == 1 || *seen == 2);
    atomic_store(&hazard, NULL);
    return NULL;
}
static void *hazard_writer(void *arg) {
    (void)arg;
    int *fresh = malloc(sizeof *fresh);
    *fresh = 2;
    int *old = atomic_exchange(&current, fresh);
    while (atomic_load(&hazard) == old)
        ;
    free(old);
    return NULL;
}
static void hazard_pointer(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    atomic_store(&current, first);
    in_two(hazard_reader, hazard_writer);
    free(atomic_load(&current));
}

/* Read-copy-update: the writer waits until the reader was outside once. */
static atomic_int inside;
static void *rcu_reader(void *arg) {
    (void)arg;
    atomic_fetch_add(&inside, 1);
    int *seen = atomic_load(&current);
    assert(*seen == 1 || *seen == 2);
    atomic_fetch_sub(&inside, 1);
    return NULL;
}
static void *rcu_writer(void *arg) {
    (void)arg;
    int *fresh = malloc(sizeof *fresh);
    *fresh = 2;
    int *old = atomic_exchange(&current, fresh);
    while (atomic_load(&inside))
        ;
    free(old);
    return NULL;
}
static void read_copy_update(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    atomic_store(&current, first);
    in_two(rcu_reader, rcu_writer);
    free(atomic_load(&current));
}

/* Quiescent states: the reader says when it holds nothing. */
static atomic_int quiet, writer_epoch;
static void *quiet_reader(void *arg) {
    (void)arg;
    for (int i = 0; i < 2; i++) {
        int *seen = atomic_load(&current);
        assert(*seen == 1 || *seen == 2);
        atomic_store(&quiet, atomic_load(&writer_epoch));
    }
    atomic_store(&quiet, 1 << 20);
    return NULL;
}
static void *quiet_writer(void *arg) {
    (void)arg;
    int *fresh = malloc(sizeof *fresh);
    *fresh = 2;
    int *old = atomic_exchange(&current, fresh);
    int mine = atomic_fetch_add(&writer_epoch, 1) + 1;
    while (atomic_load(&quiet) < mine)
        ;
    free(old);
    return NULL;
}
static void quiescent_states(void) {
    int *first = malloc(sizeof *first);
    *first = 1;
    atomic_store(&current, first);
    in_two(quiet_reader, quiet_writer);
    free(atomic_load(&current));
}

/* Left-right: readers on one copy while the writer changes the other. */
static int sides[2][2];
static atomic_int side, on_side[2], version;
static void *left_right_reader(void *arg) {
    (void)arg;
    int mine = atomic_load(&version);
    atomic_fetch_add(&on_side[mine], 1);
    int *seen = sides[atomic_load(&side)];
    assert(seen[0] == seen[1]);
    atomic_fetch_sub(&on_side[mine], 1);
    return NULL;
}
static void *left_right_writer(void *arg) {
    (void)arg;
    sides[1][0] = sides[1][1] = 1;
    atomic_store(&side, 1);
    while (atomic_load(&on_side[1]))
        ;
    atomic_store(&version, 1);
    while (atomic_load(&on_side[0]))
        ;
    sides[0][0] = sides[0][1] = 1;
    return NULL;
}
static void left_right(void) { in_two(left_right_reader, left_right_writer); }

/* Relaxed accesses that fences put in order. */
static int message;
static atomic_bool ready, passed_on;
static void *fence_sender(void *arg) {
    (void)arg;
    message = 1;
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&ready, true, memory_order_relaxed);
    return NULL;
}
static void *fence_receiver(void *arg) {
    (void)arg;
    while (!atomic_load_explicit(&ready, memory_order_relaxed))
        ;
    atomic_thread_fence(memory_order_acquire);
    assert(message == 1);
    return NULL;
}
static void fences(void) { in_two(fence_sender, fence_receiver); }

/* A release sequence through an update of somebody else. */
static atomic_int chain;
static void *sequence_body(void *arg) {
    switch ((long)arg) {
    case 0:
        message = 1;
        atomic_store_explicit(&chain, 1, memory_order_release);
        break;
    case 1: {
        int one = 1;
        atomic_compare_exchange_strong_explicit(&chain, &one, 2, memory_order_relaxed,
                                                memory_order_relaxed);
        break;
    }
    default:
        if (atomic_load_explicit(&chain, memory_order_acquire) == 2)
            assert(message == 1);
    }
    return NULL;
}
static void release_sequence(void) { in_threads(3, sequence_body); }

/* What the first one wrote is seen by the third one, by way of the second one. */
static void *relay_body(void *arg) {
    switch ((long)arg) {
    case 0:
        message = 1;
        atomic_store_explicit(&ready, true, memory_order_release);
        break;
    case 1:
        while (!atomic_load_explicit(&ready, memory_order_acquire))
            ;
        atomic_store_explicit(&passed_on, true, memory_order_release);
        break;
    default:
        while (!atomic_load_explicit(&passed_on, memory_order_acquire))
            ;
        assert(message == 1);
    }
    return NULL;
}
static void relay(void) { in_threads(3, relay_body); }

/* Places are given out by a counter, bits by an update. */
static atomic_uint given;
static int places[3];
static void *place_body(void *arg) {
    places[atomic_fetch_add_explicit(&given, 1, memory_order_relaxed)] = (int)(long)arg + 1;
    return NULL;
}
static void bump_allocation(void) {
    in_threads(3, place_body);
    assert(places[0] + places[1] + places[2] == 6);
}
static atomic_uint bits;
static void *bit_body(void *arg) {
    (void)arg;
    for (unsigned at = 0; at < 3; at++)
        if (!(atomic_fetch_or(&bits, 1u << at) & (1u << at))) {
            places[at]++;
            return NULL;
        }
    assert(!"there is a place for everybody");
    return NULL;
}
static void bitmap_allocation(void) {
    in_threads(3, bit_body);
    assert(places[0] == 1 && places[1] == 1 && places[2] == 1);
}

/* Two meet and change what they have. */
static atomic_int offer;
static int got[2];
static void *exchange_body(void *arg) {
    long me = (long)arg;
    int mine = (int)me + 1, none = 0;
    if (atomic_compare_exchange_strong(&offer, &none, mine)) {
        while (atomic_load(&offer) == mine)
            ;
        got[me] = atomic_load(&offer) - 10;
    } else {
        got[me] = none;
        atomic_store(&offer, mine + 10);
    }
    return NULL;
}
static void exchanger(void) {
    in_threads(2, exchange_body);
    assert(got[0] == 2 && got[1] == 1);
}

/* The owner of a pointer's low bit may change what it leads to. */
static _Atomic unsigned long tagged;
static int owned;
static void *tag_body(void *arg) {
    (void)arg;
    unsigned long seen = atomic_load(&tagged);
    do
        seen &= ~1ul;
    while (!atomic_compare_exchange_weak(&tagged, &seen, seen | 1));
    ++*(int *)(seen & ~1ul);
    atomic_fetch_and(&tagged, ~1ul);
    return NULL;
}
static void tagged_pointer(void) {
    atomic_store(&tagged, (unsigned long)&owned);
    in_threads(2, tag_body);
    assert(owned == 2);
}

#define ROW(name) {#name, name}
CASES(ROW(treiber_take_all), ROW(treiber_pops), ROW(michael_scott), ROW(single_producer_ring),
      ROW(bounded_many_to_many), ROW(work_stealing_deque), ROW(publish_by_exchange),
      ROW(double_checked), ROW(counted_owners), ROW(hazard_pointer), ROW(read_copy_update),
      ROW(quiescent_states), ROW(left_right), ROW(fences), ROW(release_sequence), ROW(relay),
      ROW(bump_allocation), ROW(bitmap_allocation), ROW(exchanger), ROW(tagged_pointer))
