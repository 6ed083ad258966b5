// C++17 under raddle, unmodified: std::thread, mutex, condition_variable, thread_local objects with
// destructors, exceptions that cross a future, std::async, call_once. It is right under every
// schedule; with -DBUG the consumer tests its condition with `if`.
//
//     g++ -std=c++17 -g -pthread cpp17.cpp -o cpp17 && raddle run -n 1000 -- ./cpp17
#include <cassert>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

std::mutex tally_lock;
int constructed, destroyed;

// Counts itself in and out, once for each thread that touches it.
struct Tally {
    Tally()
    {
        std::scoped_lock guard(tally_lock);
        constructed++;
    }
    ~Tally()
    {
        std::scoped_lock guard(tally_lock);
        destroyed++;
    }
    int uses = 0;
};

thread_local Tally tally;

class Queue {
public:
    void push(int value)
    {
        {
            std::scoped_lock guard(lock_);
            items_.push_back(value);
        }
        changed_.notify_all();
    }

    void close()
    {
        {
            std::scoped_lock guard(lock_);
            closed_ = true;
        }
        changed_.notify_all();
    }

    std::optional<int> pop()
    {
        std::unique_lock guard(lock_);
#ifdef BUG
        if (items_.empty() && !closed_)
            changed_.wait(guard);
        assert(closed_ || !items_.empty());
#else
        changed_.wait(guard, [this] { return closed_ || !items_.empty(); });
#endif
        if (items_.empty())
            return std::nullopt;
        int value = items_.front();
        items_.pop_front();
        return value;
    }

private:
    std::mutex lock_;
    std::condition_variable changed_;
    std::deque<int> items_;
    bool closed_ = false;
};

int consume(Queue &queue)
{
    int sum = 0;
    while (auto value = queue.pop()) {
        tally.uses++;
        sum += *value;
    }
    return sum;
}

int checked(int value)
{
    tally.uses++;
    if (value < 0)
        throw std::invalid_argument("negative: " + std::to_string(value));
    return value;
}

}  // namespace

int main()
{
    Queue queue;
    int sums[2] = {};
    std::vector<std::thread> consumers;
    for (int &sum : sums)
        consumers.emplace_back([&queue, &sum] {
            tally.uses++;
            sum = consume(queue);
        });
    for (int i = 1; i <= 3; i++)
        queue.push(i);
    queue.close();
    for (auto &consumer : consumers)
        consumer.join();
    assert(sums[0] + sums[1] == 6);

    auto good = std::async(std::launch::async, checked, 5);
    auto bad = std::async(std::launch::async, checked, -5);
    assert(good.get() == 5);
    bool thrown = false;
    try {
        bad.get();
    } catch (const std::invalid_argument &error) {
        thrown = error.what() == std::string("negative: -5");
    }
    assert(thrown);

    std::once_flag once;
    int times = 0;
    std::thread first([&] { std::call_once(once, [&] { times++; }); });
    std::call_once(once, [&] { times++; });
    first.join();
    assert(times == 1);

    std::scoped_lock guard(tally_lock);
    assert(constructed == 4 && destroyed == 4);
    std::puts("all is well");
}
