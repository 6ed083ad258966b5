// What C++20's library offers, used as it should be. A part of libstdc++ 12 is left out, because what is
// found in it is right: an acquire of `std::counting_semaphore` may sleep for ever (a release wakes
// nobody while the count is above 0).
#include <atomic>
#include <barrier>
#include <cassert>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <cstring>
#include <exception>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

static int counter;
static std::mutex mutex;

template <typename F> static void in_threads(int count, F body) {
    std::vector<std::thread> threads;
    for (int i = 0; i < count; i++)
        threads.emplace_back(body, i);
    for (auto &thread : threads)
        thread.join();
}

struct Eleven {
    int value;
    Eleven() : value(11) {}
};
static Eleven &eleven() {
    static Eleven one;
    return one;
}
static void static_object() {
    in_threads(3, [](int) { assert(eleven().value == 11); });
}

static std::once_flag once;
static void called_once() {
    in_threads(3, [](int) {
        std::call_once(once, [] { counter++; });
        assert(counter == 1);
    });
}

static void called_again_after_throw() {
    in_threads(2, [](int) {
        try {
            std::call_once(once, [] {
                if (counter++ == 0)
                    throw std::runtime_error("not yet");
            });
        } catch (const std::runtime_error &) {
        }
    });
    std::call_once(once, [] { counter++; });
    assert(counter == 2);
}

static void shared_lock() {
    static std::shared_mutex lock;
    in_threads(3, [](int me) {
        if (me == 0) {
            std::unique_lock hold(lock);
            counter++;
        } else {
            std::shared_lock hold(lock);
            assert(counter == 0 || counter == 1);
        }
    });
}

static void two_at_once() {
    static std::mutex second;
    in_threads(2, [](int me) {
        if (me == 0) {
            std::scoped_lock hold(mutex, second);
            counter++;
        } else {
            std::scoped_lock hold(second, mutex);
            counter++;
        }
    });
    assert(counter == 2);
}

static void condition() {
    static std::condition_variable changed;
    static bool ready;
    in_threads(2, [](int me) {
        if (me == 0) {
            {
                std::lock_guard hold(mutex);
                ready = true;
            }
            changed.notify_one();
        } else {
            std::unique_lock hold(mutex);
            changed.wait(hold, [] { return ready; });
        }
    });
}

static void condition_any() {
    static std::condition_variable_any changed;
    static std::shared_mutex lock;
    static bool ready;
    in_threads(2, [](int me) {
        if (me == 0) {
            std::unique_lock hold(lock);
            ready = true;
            changed.notify_all();
        } else {
            std::shared_lock hold(lock);
            changed.wait(hold, [] { return ready; });
        }
    });
}

static void promised() {
    std::promise<int> promise;
    std::future<int> future = promise.get_future();
    std::thread thread([&] { promise.set_value(++counter); });
    assert(future.get() == 1 && counter == 1);
    thread.join();
}

static void thrown_across() {
    auto future = std::async(std::launch::async, []() -> int { throw std::runtime_error("no"); });
    try {
        future.get();
        assert(false);
    } catch (const std::runtime_error &error) {
        assert(std::strcmp(error.what(), "no") == 0);
    }
}

static void packaged() {
    std::packaged_task<int()> task([] { return ++counter; });
    auto future = task.get_future();
    std::thread thread(std::move(task));
    assert(future.get() == 1);
    thread.join();
}

static void shared_future() {
    std::promise<int> promise;
    auto future = promise.get_future().share();
    std::thread a([=] { assert(future.get() == 3); }), b([=] { assert(future.get() == 3); });
    promise.set_value(3);
    a.join();
    b.join();
}

static void latched() {
    static std::latch done(2);
    static int shares[2];
    std::thread a([] { shares[0] = 1, done.count_down(); });
    std::thread b([] { shares[1] = 1, done.count_down(); });
    done.wait();
    assert(shares[0] == 1 && shares[1] == 1);
    a.join();
    b.join();
}

static void phased() {
    static int shares[2];
    static std::barrier meeting(2, []() noexcept {
        assert(shares[0] == shares[1]);
        counter++;
    });
    in_threads(2, [](int me) {
        shares[me] = 1;
        meeting.arrive_and_wait();
    });
    assert(counter == 1);
}

static void stopped() {
    static std::atomic<bool> seen;
    {
        std::jthread thread([](std::stop_token token) {
            while (!token.stop_requested())
                std::this_thread::yield();
            seen = true;
        });
    }
    assert(seen);
}

static void stop_called_back() {
    std::stop_source source;
    static std::atomic<int> called;
    std::thread thread([&] { source.request_stop(); });
    {
        std::stop_callback callback(source.get_token(), [] { called++; });
    }
    thread.join();
    assert(called <= 1);
}

static void notified() {
    static std::atomic<int> word;
    in_threads(2, [](int me) {
        if (me == 0) {
            counter = 5;
            word.store(1, std::memory_order_release);
            word.notify_one();
        } else {
            word.wait(0, std::memory_order_acquire);
            assert(counter == 5);
        }
    });
}

static void flag_waited() {
    static std::atomic_flag flag;
    in_threads(2, [](int me) {
        if (me == 0) {
            counter = 5;
            flag.test_and_set();
            flag.notify_all();
        } else {
            flag.wait(false);
            assert(counter == 5);
        }
    });
}

static void referred() {
    static int plain;
    in_threads(3, [](int) { std::atomic_ref<int>(plain).fetch_add(1); });
    assert(plain == 3);
}

static void shared_owners() {
    auto one = std::make_shared<int>(3);
    std::thread a([one] { assert(*one == 3); }), b([one] { assert(*one == 3); });
    one.reset();
    a.join();
    b.join();
}

static void weak_owner() {
    auto one = std::make_shared<int>(3);
    std::weak_ptr<int> weak = one;
    std::thread thread([weak] {
        if (auto held = weak.lock())
            assert(*held == 3);
    });
    one.reset();
    thread.join();
    assert(weak.expired());
}

static std::atomic<std::shared_ptr<int>> published;
static void shared_pointer_published() {
    published.store(std::make_shared<int>(1));
    std::thread thread([] {
        auto seen = published.load();
        assert(*seen == 1 || *seen == 2);
    });
    published.store(std::make_shared<int>(2));
    thread.join();
}

struct Leaves {
    ~Leaves() {
        std::lock_guard hold(mutex);
        counter++;
    }
    void touch() {}
};
static thread_local Leaves mine;
static void thread_local_object() {
    in_threads(3, [](int) { mine.touch(); });
    assert(counter == 3);
}

// A coroutine that another thread goes on with.
struct Task {
    struct promise_type {
        Task get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { std::terminate(); }
    };
    std::coroutine_handle<promise_type> handle;
};
struct OnThread {
    std::thread &thread;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> handle) {
        thread = std::thread([handle] { handle.resume(); });
    }
    void await_resume() const noexcept {}
};
static Task moves(std::thread &thread, int &value) {
    value = 1;
    co_await OnThread{thread};
    value = 2;
}
static void coroutine() {
    std::thread thread;
    int value = 0;
    Task task = moves(thread, value);
    thread.join();
    assert(value == 2);
    task.handle.destroy();
}

static void handed_over() {
    std::unique_ptr<std::string> text = std::make_unique<std::string>("a text of some length, on the heap");
    std::thread thread([mine = std::move(text)] { assert(mine->size() == 34); });
    thread.join();
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {
#define ROW(name) {#name, name}
        ROW(static_object), ROW(called_once), ROW(called_again_after_throw), ROW(shared_lock),
        ROW(two_at_once), ROW(condition), ROW(condition_any), ROW(promised), ROW(thrown_across),
        ROW(packaged), ROW(shared_future), ROW(latched), ROW(phased), ROW(stopped),
        ROW(stop_called_back), ROW(notified), ROW(flag_waited), ROW(referred), ROW(shared_owners),
        ROW(weak_owner), ROW(shared_pointer_published), ROW(thread_local_object), ROW(coroutine),
        ROW(handed_over),
    };
    for (auto &one : cases)
        if (argc < 2)
            std::puts(one.name);
        else if (std::strcmp(argv[1], one.name) == 0) {
            one.run();
            return 0;
        }
    return argc < 2 ? 0 : 2;
}
