/* A list whose links are 32-bit numbers, as programs at fixed addresses may have it, and two threads
   that take from it. With BUG the head is read outside of the lock. With "signed" the links are read as
   signed numbers; with "large" its blocks have 100 kB; with "full" there are others of 2 GB before. With
   BIG so much of the program itself lies low that there is no room for its blocks. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
    uint32_t next;
    int value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t head;
static int is_signed, sum[2];
#ifdef BIG
static volatile char big[1600u << 20];
#endif

static struct node *at(uint32_t link)
{
    return is_signed ? (struct node *)(intptr_t)(int32_t)link : (struct node *)(uintptr_t)link;
}

static void *take(void *own)
{
    for (int i = 0; i < 2; i++) {
#ifdef BUG
        uint32_t first = __atomic_load_n(&head, __ATOMIC_SEQ_CST);
#endif
        pthread_mutex_lock(&lock);
#ifndef BUG
        uint32_t first = head;
#endif
        __atomic_store_n(&head, at(first)->next, __ATOMIC_SEQ_CST);
        *(int *)own += at(first)->value;
        pthread_mutex_unlock(&lock);
    }
    return 0;
}

int main(int argc, char **argv)
{
    size_t size = sizeof(struct node);
#ifdef BIG
    big[argc] = 1;
    return (uintptr_t)malloc(10) >> 32 == 0;
#endif
    if (argc > 1 && !strcmp(argv[1], "full")) {
        uintptr_t first = (uintptr_t)malloc(100 << 20), last = 0;
        for (int i = 0; i < 20; i++)
            last = (uintptr_t)malloc(100 << 20);
        return first >> 32 != 0 || last >> 32 == 0;
    }
    if (argc > 1 && !strcmp(argv[1], "large"))
        size = 100000;
    is_signed = argc > 1 && !strcmp(argv[1], "signed");
    for (int i = 0; i < 4; i++) {
        struct node *node = calloc(1, size);
        node->next = head;
        node->value = i;
        head = (uintptr_t)node;
    }
    pthread_t a, b;
    pthread_create(&a, 0, take, &sum[0]);
    pthread_create(&b, 0, take, &sum[1]);
    pthread_join(a, 0);
    pthread_join(b, 0);
    assert(sum[0] + sum[1] == 6);
    return 0;
}
