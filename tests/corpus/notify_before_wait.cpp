// Lost notification in C++: the waiter waits without a predicate.
#include <condition_variable>
#include <mutex>
#include <thread>

int main()
{
    std::mutex lock;
    std::condition_variable ready;
    bool is_ready = false;
    std::thread announcer([&] {
        std::lock_guard<std::mutex> guard(lock);
        is_ready = true;
        ready.notify_one();
    });
    {
        std::unique_lock<std::mutex> guard(lock);
#ifdef FIXED
        ready.wait(guard, [&] { return is_ready; });
#else
        ready.wait(guard);
#endif
    }
    announcer.join();
    return is_ready ? 0 : 1;
}
