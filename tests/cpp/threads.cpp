// Threads of C++, most of whose library has no hooks. -DSCENARIO says which; -DBUG breaks it.
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdlib>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <queue>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#ifdef BUG
constexpr bool broken = true;
#else
constexpr bool broken = false;
#endif

static std::mutex lock;
static int counter;

#if SCENARIO == 1 // A counter and a lock.
int main()
{
    auto count = [] {
        if (broken) {
            int seen = counter;
            counter = seen + 1;
        } else {
            std::lock_guard<std::mutex> guard(lock);
            counter++;
        }
    };
    std::thread a(count), b(count);
    a.join();
    b.join();
    assert(counter == 2);
}
#elif SCENARIO == 2 // A queue and a condition, in memory that the threads own together.
struct Queue {
    std::mutex lock;
    std::condition_variable filled;
    std::queue<int> items;

    void put(int item)
    {
        {
            std::lock_guard<std::mutex> guard(lock);
            items.push(item);
        }
        filled.notify_one();
    }

    int take()
    {
        std::unique_lock<std::mutex> guard(lock);
        if (broken)
            filled.wait(guard);
        else
            filled.wait(guard, [this] { return !items.empty(); });
        int item = items.front();
        items.pop();
        return item;
    }
};

int main()
{
    auto queue = std::make_shared<Queue>();
    std::atomic<int> sum{0};
    std::vector<std::thread> threads;
    threads.emplace_back([queue] { queue->put(1); });
    threads.emplace_back([queue, &sum] { sum += queue->take(); });
    for (auto &thread : threads)
        thread.join();
    assert(sum == 1);
}
#elif SCENARIO == 3 // A thread without a join, and exceptions.
int main()
{
    static std::atomic<bool> done{false};
    static int result;
    std::thread([] {
        try {
            throw std::runtime_error("an error");
        } catch (const std::exception &) {
            if (broken)
                done = true;
            result = 1;
        }
        done = true;
    }).detach();
    if (done)
        assert(result == 1);
}
#elif SCENARIO == 4 // Once, and output.
int main()
{
    static std::once_flag flag;
    auto start = [] {
        std::call_once(flag, [] { counter++; });
        std::lock_guard<std::mutex> guard(lock);
        std::cout << "started " << counter << std::endl;
    };
    std::thread a(start), b(start);
    a.join();
    b.join();
    assert(counter == (broken ? 2 : 1));
}
#elif SCENARIO == 5 // A map.
int main()
{
    static std::map<int, int> map;
    auto add = [](int key) {
        std::lock_guard<std::mutex> guard(lock);
        map[key] = key;
    };
    std::thread a(add, 1), b(add, 2);
    a.join();
    b.join();
    assert(map.size() == (broken ? 1 : 2));
}
#elif SCENARIO == 6 // A stream that keeps what is written.
int main()
{
    static std::ostringstream text;
    auto write = [](int number) {
        std::lock_guard<std::mutex> guard(lock);
        text << number;
    };
    std::thread a(write, 1), b(write, 2);
    a.join();
    b.join();
    assert(text.str() == "12" || (!broken && text.str() == "21"));
}
#elif SCENARIO == 7 // A thread that another one joins.
int main()
{
    auto first = std::make_shared<std::thread>([] { counter = 1; });
    std::thread second([first] {
        if (!broken)
            first->join();
        assert(counter == 1);
    });
    second.join();
    if (broken)
        first->join();
}
#elif SCENARIO == 8 // A local static, which whoever comes first initialises. With -DBUG that matters.
static volatile int first;

struct Initialised {
    int value;
    Initialised() : value(first) {}
};

static int value()
{
    static Initialised only;
    return only.value;
}

int main()
{
    int seen[3];
    std::thread a([&] {
        first = 1;
        seen[0] = value();
    });
    std::thread b([&] {
        seen[1] = first;
        seen[2] = value();
    });
    a.join();
    b.join();
    assert(seen[0] == seen[2]);
    if (broken)
        std::exit(1 + seen[0] * 2 + seen[1]);
}
#elif SCENARIO == 9 // A list and a condition.
int main()
{
    static std::list<int> items;
    static std::condition_variable filled;
    int sum = 0;
    std::thread giver([] {
        for (int i = 1; i <= 2; i++) {
            std::lock_guard<std::mutex> guard(lock);
            items.push_back(i);
            filled.notify_one();
        }
    });
    std::thread taker([&] {
        for (int i = 0; i < 2; i++) {
            std::unique_lock<std::mutex> guard(lock);
            if (broken)
                filled.wait(guard);
            else
                filled.wait(guard, [] { return !items.empty(); });
            sum += items.front();
            items.pop_front();
        }
    });
    giver.join();
    taker.join();
    assert(sum == 3);
}
#elif SCENARIO == 10 // A table of texts.
int main()
{
    static std::unordered_map<std::string, int> table;
    auto count = [](int n) {
        std::unique_lock<std::mutex> guard(lock);
        int seen = table["key"];
        if (broken) {
            guard.unlock();
            guard.lock();
        }
        table["key"] = seen + n;
    };
    std::thread a(count, 1), b(count, 2);
    a.join();
    b.join();
    assert(table["key"] == 3);
}
#elif SCENARIO == 11 // A text that grows.
int main()
{
    static std::string text;
    auto add = [](const char *more) {
        std::unique_lock<std::mutex> guard(lock, std::defer_lock);
        if (!broken)
            guard.lock();
        text += more;
    };
    std::thread a(add, "one that needs memory of its own"), b(add, "two");
    a.join();
    b.join();
    assert(text.size() == 35);
}
#elif SCENARIO == 12 // A promise, and what is done after it was kept.
int main()
{
    std::promise<int> promise;
    std::future<int> kept = promise.get_future();
    std::thread other([&] {
        if (!broken)
            counter = 1;
        promise.set_value(7);
        if (broken)
            counter = 1;
    });
    assert(kept.get() == 7);
    assert(counter == 1);
    other.join();
}
#elif SCENARIO == 13 // Two tasks, one of which throws.
static int work(int n)
{
    if (n == 0)
        throw std::runtime_error("nothing to do");
    if (!broken)
        lock.lock();
    int old = counter;
    counter = old + n;
    if (!broken)
        lock.unlock();
    return n;
}

int main()
{
    auto first = std::async(std::launch::async, work, 1);
    auto second = std::async(std::launch::async, work, 2);
    auto third = std::async(std::launch::deferred, work, 0);
    assert(first.get() + second.get() == 3);
    assert(counter == 3);
    try {
        third.get();
        assert(!"it throws");
    } catch (const std::runtime_error &) {
    }
}
#elif SCENARIO == 14 // An atomic that is waited for, and who forgets to say that it has changed.
int main()
{
    static std::atomic<int> ready;
    std::thread other([] {
        counter = 1;
        ready = 1;
        if (!broken)
            ready.notify_one();
    });
    ready.wait(0);
    assert(counter == 1);
    other.join();
}
#endif
