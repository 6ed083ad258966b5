// What a future hands over is a value or an exception: from std::async (HOW 0), a promise (1), a task
// (2), one that several threads share (3). With -DBUGGY nobody expects the exception that a negative
// input makes. A promise that is kept when its thread ends (4) is kept after all else that the thread
// does; with -DBUGGY it is kept before.
#include <cassert>
#include <future>
#include <stdexcept>
#include <thread>

extern "C" int __VERIFIER_nondet_int(void);

static int twice(int n)
{
    if (n < 0)
        throw std::domain_error("negative");
    return n / 2 * 2;
}

static int outcome(std::future<int> &future)
{
    try {
        return future.get() % 2;
    } catch (const std::domain_error &) {
        return -1;
    }
}

int main()
{
    int n = __VERIFIER_nondet_int();
#if HOW == 0
    auto future = std::async(std::launch::async, twice, n);
#elif HOW == 1
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] {
        try {
            promise.set_value(twice(n));
        } catch (...) {
            promise.set_exception(std::current_exception());
        }
    });
#elif HOW == 2
    std::packaged_task<int(int)> task(twice);
    auto future = task.get_future();
    std::thread thread(std::ref(task), n);
#elif HOW == 3
    auto first = std::async(std::launch::async, twice, n).share();
    auto future = std::async(std::launch::async, [first] { return first.get(); });
#else
    int left = 1;
    std::promise<int> promise;
    auto future = promise.get_future();
    std::thread thread([&] {
#ifdef BUGGY
        promise.set_value(0);
#else
        promise.set_value_at_thread_exit(0);
#endif
        left = 0;
    });
    future.get();
    assert(left == 0);
    thread.join();
    return 0;
#endif
    int got = outcome(future);
#if HOW == 1 || HOW == 2
    thread.join();
#endif
#ifdef BUGGY
    assert(got == 0);
#else
    assert(got == (n < 0 ? -1 : 0));
#endif
}
