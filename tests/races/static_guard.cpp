// A local static is made once, whoever comes first; what it points to is shared without a lock.
// Fixed: it is only read. With -DUNSEEN the guard of the static is read by a function that is not
// followed.
#include <pthread.h>

struct Table {
    int entries[4];
    Table() {
        for (int &entry : entries)
            entry = 1;
    }
};

#ifdef UNSEEN
#define PARAMETERS ...
#else
#define PARAMETERS
#endif

static Table &table(PARAMETERS) {
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
