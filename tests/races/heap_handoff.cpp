// A block is filled by one thread and read by another that has its address from before. Fixed: the
// filling thread is joined first.
#include <pthread.h>

static int *block;

static void *fill(void *where) {
    static_cast<int *>(where)[3] = 5;
    return nullptr;
}

int main() {
    block = new int[4]();
    pthread_t worker;
    pthread_create(&worker, nullptr, fill, block);
#ifdef FIXED
    pthread_join(worker, nullptr);
#endif
    int seen = *const_cast<volatile int *>(&block[3]);
#ifndef FIXED
    pthread_join(worker, nullptr);
#endif
    delete[] block;
    return seen > 5;
}
