// A local static is made once, whoever comes first; what it points to is shared without a lock.
// Fixed: it is only read.
#include <pthread.h>

struct Table {
    int entries[4];
    Table() {
        for (int &entry : entries)
            entry = 1;
    }
};

static Table &table() {
    static Table instance;
    return instance;
}

static void *work(void *) {
    Table &shared = table();
#ifdef FIXED
    volatile int seen = shared.entries[2];
    (void)seen;
#else
    shared.entries[2]++;
#endif
    return nullptr;
}

int main() {
    pthread_t first, second;
    pthread_create(&first, nullptr, work, nullptr);
    pthread_create(&second, nullptr, work, nullptr);
    pthread_join(first, nullptr);
    pthread_join(second, nullptr);
    return 0;
}
