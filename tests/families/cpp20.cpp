// Latches, barriers, semaphores, stop tokens, atomic waits. The mistake: the stop is asked for
// before the worker has been counted.
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <thread>

static std::atomic<int> rounds, word;

int main()
{
    std::latch begun(2);
    std::barrier meet(2, []() noexcept { rounds++; });
    std::counting_semaphore<2> places(1);
    std::shared_mutex shared;
    auto work = [&] {
        begun.count_down();
        meet.arrive_and_wait();
        places.acquire();
        places.release();
        std::shared_lock reading(shared);
        meet.arrive_and_wait();
    };
    std::jthread a(work), b(work);
    begun.wait();
    a.join();
    b.join();
    assert(rounds == 2);

    std::jthread waiter([] { word.wait(0); });
    word = 1;
    word.notify_one();
    waiter.join();

    std::promise<int> promise;
    auto future = promise.get_future();
    std::jthread keeper([&] { promise.set_value(4); });
    assert(future.get() == 4);

    std::mutex lock;
    std::condition_variable_any changed;
    int counted = 0;
    std::jthread stopped([&](std::stop_token stop) {
        std::unique_lock held(lock);
        if (stop.stop_requested())
            return;
        counted = 1;
        changed.notify_all();
        changed.wait(held, stop, [] { return false; });
    });
#ifdef FIXED
    {
        std::unique_lock held(lock);
        changed.wait(held, [&] { return counted == 1; });
    }
#endif
    stopped.request_stop();
    stopped.join();
    assert(counted == 1);
    return 0;
}
