// Two threads write to one page. Fixed: each to a page of its own, which the kernel puts at the same
// address, one after the other; and to one by which it has let a mapping grow.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/mman.h>

static char *page(void) {
    return mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

#ifdef FIXED
static char *room; // for two pages

static void grow(void) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
    if (mmap(room, 4096, PROT_READ | PROT_WRITE, flags, -1, 0) != room)
        return;
    volatile char *grown = mremap(room, 4096, 8192, 0);
    if (grown == room) {
        grown[4096] = 1;
        munmap(room, 8192);
    }
}
#endif

static void *work(void *given) {
    volatile char *own = given;
#ifdef FIXED
    own = page();
#endif
    *own = 1;
#ifdef FIXED
    munmap((void *)own, 4096);
    grow();
#endif
    return 0;
}

int main(void) {
    pthread_t other;
    char *shared = page();
#ifdef FIXED
    room = mmap(0, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(room, 8192);
#endif
    pthread_create(&other, 0, work, shared);
    work(shared);
    pthread_join(other, 0);
    return 0;
}
