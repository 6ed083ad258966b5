// Threads write bytes of one word. Fixed: each its own; else one writes the whole word.
#include <pthread.h>
#include <stdint.h>

static union {
    volatile uint32_t word;
    volatile uint8_t bytes[4];
} cell;

static void *low(void *unused) {
    cell.bytes[0] = 1;
    return unused;
}

static void *high(void *unused) {
#ifdef FIXED
    cell.bytes[3] = 1;
#else
    cell.word = 1;
#endif
    return unused;
}

int main(void) {
    pthread_t first, second;
    pthread_create(&first, 0, low, 0);
    pthread_create(&second, 0, high, 0);
    pthread_join(first, 0);
    pthread_join(second, 0);
    return 0;
}
