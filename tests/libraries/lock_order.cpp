// Two std::mutex in opposite orders: every operation is a call inside a header of the library.
#include <mutex>
#include <thread>

static std::mutex first, second;

static void forwards() {
    std::lock_guard<std::mutex> outer(first);  // forwards holds
    std::lock_guard<std::mutex> inner(second); // forwards waits
}

static void backwards() {
    std::lock_guard<std::mutex> outer(second); // backwards holds
    std::lock_guard<std::mutex> inner(first);  // backwards waits
}

int main() {
    std::thread one(forwards), two(backwards);
    one.join();
    two.join();
}
