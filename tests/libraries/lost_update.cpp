// The lock is given up between reading and writing.
#include <cassert>
#include <mutex>
#include <thread>

static std::mutex lock;
static int count;

static int get() {
    std::lock_guard<std::mutex> guard(lock); // reads under the lock
    return count;
}

static void set(int value) {
    std::lock_guard<std::mutex> guard(lock); // writes under the lock
    count = value;
}

static void add() { set(get() + 1); }

int main() {
    std::thread one(add), two(add);
    one.join();
    two.join();
    assert(count == 2);
}
