// Two threads write to one page. Fixed: each to a page of its own, which the kernel puts at the same
// address, one after the other.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

static char *page(void) {
    return mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *work(void *given) {
    volatile char *own = given;
#ifdef FIXED
    own = page();
#endif
    *own = 1;
#ifdef FIXED
    munmap((void *)own, 4096);
#endif
    return 0;
}

int main(void) {
    pthread_t other;
    char *shared = page();
    pthread_create(&other, 0, work, shared);
    work(shared);
    pthread_join(other, 0);
    return 0;
}
