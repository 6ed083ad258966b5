// A thread waits for a condition that never comes, until the end of main asks it to stop.
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

int main()
{
    std::mutex mutex;
    std::condition_variable_any condition;
    int came = 0;
    {
        std::jthread waiter([&](std::stop_token stop) {
            std::unique_lock lock(mutex);
            came = condition.wait(lock, stop, [] { return false; });
        });
    }
    return came;
}
