// Five threads use a local static object; whoever comes first makes it.
#include <pthread.h>

struct Object {
    int content;
    Object() : content(11) {}
};

static Object &object() {
    static Object instance;
    return instance;
}

static void *work(void *) { return reinterpret_cast<void *>(static_cast<long>(object().content != 11)); }

int main() {
    pthread_t threads[5];
    for (auto &thread : threads)
        pthread_create(&thread, nullptr, work, nullptr);
    for (auto &thread : threads)
        pthread_join(thread, nullptr);
    return 0;
}
