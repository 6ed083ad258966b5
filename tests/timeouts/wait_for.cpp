// A wait of 20 ms for what another thread does; with "sleeps" that sleeps 5 ms first; with "bug" what
// it computes is wrong in any case where the threads meet.
#include <cassert>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

int main(int argc, char **argv)
{
    bool bug = argc > 1 && !std::strcmp(argv[1], "bug");
    bool sleeps = argc > 1 && !std::strcmp(argv[1], "sleeps");
    std::mutex mutex;
    std::condition_variable changed;
    bool ready = false;
    int balance = 10;
    auto pay = [&] {
        int left;
        {
            std::lock_guard<std::mutex> guard(mutex);
            left = balance;
        }
        if (left >= 10) {
            std::lock_guard<std::mutex> guard(mutex);
            balance -= 10;
        }
    };
    std::thread worker([&] {
        if (sleeps)
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        for (int i = 0; i < 10; i++)
            std::lock_guard<std::mutex> guard(mutex);
        {
            std::lock_guard<std::mutex> guard(mutex);
            ready = true;
        }
        changed.notify_one();
        if (bug)
            pay();
    });
    {
        std::unique_lock<std::mutex> guard(mutex);
        bool came = changed.wait_for(guard, std::chrono::milliseconds(20), [&] { return ready; });
        assert(bug || came);
    }
    if (bug)
        pay();
    worker.join();
    assert(balance >= 0);
}
