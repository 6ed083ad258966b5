/* What the C++ library offers for threads, one mode each; the exit status is the outcome. */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstring>
#include <future>
#include <latch>
#include <memory>
#include <mutex>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

/* A condition variable with a lock of any kind hands a value over. */
static int condition_any()
{
    std::shared_mutex lock;
    std::condition_variable_any changed;
    int value = 0;
    std::thread giver([&] {
        std::unique_lock hold(lock);
        value = 7;
        changed.notify_all();
    });
    std::shared_lock hold(lock);
    changed.wait(hold, [&] { return value != 0; });
    int seen = value;
    hold.unlock();
    giver.join();
    return seen;
}

/* A wait that a stop request ends: 1 stopped, 2 the value came first. */
static int stopped_wait()
{
    std::mutex lock;
    std::condition_variable_any changed;
    bool ready = false;
    int how = 0;
    std::jthread waiter([&](std::stop_token stop) {
        std::unique_lock hold(lock);
        how = changed.wait(hold, stop, [&] { return ready; }) ? 2 : 1;
    });
    std::jthread giver([&] {
        std::unique_lock hold(lock);
        ready = true;
        changed.notify_one();
    });
    waiter.request_stop();
    waiter.join();
    giver.join();
    return how;
}

/* A stop callback runs in the thread that asks, or at once where asking came first. */
static int stop_callback()
{
    std::stop_source source;
    std::thread::id caller;
    std::thread registers([&] {
        std::stop_callback call(source.get_token(), [&] { caller = std::this_thread::get_id(); });
    });
    std::thread::id id = registers.get_id();
    source.request_stop();
    registers.join();
    if (caller == id)
        return 1;
    return caller == std::this_thread::get_id() ? 2 : 3;
}

/* Both threads have counted down before either goes on. */
static int latch()
{
    std::latch both(2);
    std::atomic<int> here = 0;
    int seen = 0;
    std::thread other([&] {
        here++;
        both.count_down();
    });
    here++;
    both.arrive_and_wait();
    seen = here;
    other.join();
    return seen;
}

/* Two phases of a barrier; its completion runs once for each. */
static int barrier()
{
    int phases = 0, sum = 0;
    std::barrier meet(2, [&]() noexcept { phases++; });
    std::thread other([&] {
        meet.arrive_and_wait();
        sum += phases;
        meet.arrive_and_wait();
    });
    meet.arrive_and_wait();
    meet.arrive_and_wait();
    other.join();
    return phases * 10 + sum;
}

/* A thread leaves a barrier for good. */
static int barrier_drop()
{
    std::barrier meet(2);
    std::thread other([&] { meet.arrive_and_drop(); });
    meet.arrive_and_wait();
    meet.arrive_and_wait();
    other.join();
    return 1;
}

/* A semaphore that may have been taken: 0 or 1. */
static int semaphore_try()
{
    std::counting_semaphore<4> units(1);
    bool other_got = false;
    std::thread other([&] { other_got = units.try_acquire(); });
    bool got = units.try_acquire();
    other.join();
    return got + 2 * other_got;
}

/* A semaphore with a limit of time: 0 too late, 1 in time. */
static int semaphore_timed()
{
    std::binary_semaphore full(0);
    std::thread other([&] { full.release(); });
    bool got = full.try_acquire_for(5ms);
    other.join();
    return got;
}

/* Once, but the first call may fail: the second one does it then. */
static int once_throws()
{
    std::once_flag flag;
    int calls = 0, done_by = 0;
    auto body = [&](int who) {
        try {
            std::call_once(flag, [&] {
                if (++calls == 1)
                    throw 1;
                done_by = who;
            });
        } catch (int) {
        }
    };
    std::thread other(body, 1);
    body(2);
    other.join();
    return calls * 10 + done_by;
}

/* A task in a thread of its own, and one that runs where it is asked for. */
static int async_tasks()
{
    std::future<int> eager = std::async(std::launch::async, [] { return 3; });
    auto lazy = std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
    bool here = lazy.get() == std::this_thread::get_id();
    return eager.get() * 10 + here;
}

/* Is a result there after a while? 0 or 1. */
static int future_timed()
{
    std::future<int> result = std::async(std::launch::async, [] { return 1; });
    bool ready = result.wait_for(1ms) == std::future_status::ready;
    return result.get() * ready;
}

/* An exception crosses to the thread that asks; a promise that is dropped is noticed. */
static int promises()
{
    std::promise<int> kept, dropped;
    std::shared_future<int> first = kept.get_future().share();
    std::future<int> second = dropped.get_future();
    std::thread other([kept = std::move(kept), dropped = std::move(dropped)]() mutable {
        try {
            throw 4;
        } catch (...) {
            kept.set_exception(std::current_exception());
        }
    });
    int seen = 0;
    try {
        first.get();
    } catch (int value) {
        seen = value;
    }
    try {
        second.get();
    } catch (const std::future_error &error) {
        seen += error.code() == std::future_errc::broken_promise ? 10 : 0;
    }
    other.join();
    return seen;
}

static thread_local struct Local {
    int *target = nullptr;
    ~Local()
    {
        if (target)
            *target += 1;
    }
} local;

/* What is set at a thread's exit comes after the destructors of its locals. */
static int at_thread_exit()
{
    int destroyed = 0;
    std::promise<int> promise;
    std::future<int> result = promise.get_future();
    std::thread other([&] {
        local.target = &destroyed;
        promise.set_value_at_thread_exit(2);
    });
    int value = result.get(), before = destroyed;
    other.join();
    return value * 10 + before;
}

static int notify_at_thread_exit()
{
    std::mutex lock;
    std::condition_variable changed;
    int destroyed = 0, seen = -1;
    bool done = false;
    std::thread other([&] {
        std::unique_lock hold(lock);
        local.target = &destroyed;
        done = true;
        std::notify_all_at_thread_exit(changed, std::move(hold));
    });
    {
        std::unique_lock hold(lock);
        changed.wait(hold, [&] { return done; });
        seen = destroyed;
    }
    other.join();
    return seen;
}

/* A timed lock that another holds for a while: 0 too late, 1 got. */
template <class Lock> static int timed_lock()
{
    Lock lock;
    std::thread other([&] { std::lock_guard hold(lock); });
    bool got = lock.try_lock_for(2ms);
    if (got)
        lock.unlock();
    other.join();
    return got;
}

/* Readers share, with a limit of time. */
static int timed_shared()
{
    std::shared_timed_mutex lock;
    int value = 0, seen = 3;
    std::thread other([&] {
        std::lock_guard hold(lock);
        value = 1;
    });
    if (lock.try_lock_shared_until(std::chrono::steady_clock::now() + 2ms)) {
        seen = value;
        lock.unlock_shared();
    }
    other.join();
    return seen;
}

/* Two locks in two orders, without a deadlock. */
static int scoped_locks()
{
    std::mutex a, b;
    int value = 0;
    std::thread other([&] {
        std::scoped_lock hold(a, b);
        value += 1;
    });
    {
        std::scoped_lock hold(b, a);
        value += 2;
    }
    other.join();
    return value;
}

/* A wait for another value of an atomic. */
static int atomic_wait()
{
    std::atomic<int> state = 0;
    std::thread other([&] {
        state.store(1);
        state.notify_one();
    });
    state.wait(0);
    int seen = state;
    other.join();
    return seen;
}

/* The same for a type that is no futex word, and for a flag. */
static int atomic_wait_proxy()
{
    std::atomic<long> state = 0;
    std::atomic_flag flag;
    std::thread other([&] {
        state = 1;
        state.notify_all();
        flag.wait(false);
    });
    state.wait(0);
    flag.test_and_set();
    flag.notify_all();
    other.join();
    return 1;
}

/* Who comes last to a shared pointer frees what it points to. */
static int shared_pointer()
{
    std::atomic<std::shared_ptr<int>> slot = std::make_shared<int>(1);
    std::thread other([&] { slot.store(std::make_shared<int>(2)); });
    int seen = *slot.load();
    other.join();
    return seen;
}

/* A static of a function is made once. */
static int function_static()
{
    static std::atomic<int> made = 0;
    struct Thing {
        Thing() { made++; }
    };
    auto use = [] { static Thing thing; };
    std::thread other(use);
    use();
    other.join();
    return made;
}

/* Sleeps are in order of time, or not: whoever writes last is seen. */
static int sleeps()
{
    std::atomic<int> last = 0;
    std::thread other([&] {
        std::this_thread::sleep_for(10ms);
        last = 1;
    });
    std::this_thread::sleep_until(std::chrono::system_clock::now() + 1s);
    last = 2;
    other.join();
    return last;
}

/* A polling thread ends when it is asked to. */
static int polled_stop()
{
    int rounds = 0;
    std::jthread worker([&](std::stop_token stop) {
        while (!stop.stop_requested())
            std::this_thread::yield();
        rounds = 1;
    });
    worker.request_stop();
    worker.join();
    return rounds;
}

/* A packaged task. */
static int packaged()
{
    std::packaged_task<int(int)> task([](int x) { return x + 1; });
    std::future<int> result = task.get_future();
    std::thread other(std::move(task), 4);
    int seen = result.get();
    other.join();
    return seen;
}

/* A recursive lock, and try_lock of it by another. */
static int recursive()
{
    std::recursive_mutex lock;
    int other_got = 0;
    std::thread other([&] {
        if (lock.try_lock()) {
            other_got = 1;
            lock.unlock();
        }
    });
    {
        std::lock_guard one(lock);
        std::lock_guard two(lock);
    }
    other.join();
    return other_got;
}

/* A timed wait for a condition: 0 nobody came in time, 1 somebody did. */
static int condition_timed()
{
    std::mutex lock;
    std::condition_variable changed;
    bool ready = false;
    std::thread other([&] {
        std::lock_guard hold(lock);
        ready = true;
        changed.notify_one();
    });
    bool got;
    {
        std::unique_lock hold(lock);
        got = changed.wait_for(hold, 5ms, [&] { return ready; });
    }
    other.join();
    return got;
}

static const struct {
    const char *name;
    int (*run)();
} modes[] = {
#define MODE(name) {#name, name}
    MODE(condition_any), MODE(stopped_wait), MODE(stop_callback), MODE(latch), MODE(barrier),
    MODE(barrier_drop), MODE(semaphore_try), MODE(semaphore_timed), MODE(once_throws),
    MODE(async_tasks), MODE(future_timed), MODE(promises), MODE(at_thread_exit),
    MODE(notify_at_thread_exit), MODE(timed_shared), MODE(scoped_locks), MODE(atomic_wait),
    MODE(atomic_wait_proxy), MODE(shared_pointer), MODE(function_static), MODE(sleeps),
    MODE(polled_stop), MODE(packaged), MODE(recursive), MODE(condition_timed),
    {"timed_mutex", timed_lock<std::timed_mutex>},
    {"recursive_timed_mutex", timed_lock<std::recursive_timed_mutex>},
    {"shared_timed_mutex", timed_lock<std::shared_timed_mutex>},
};

int main(int argc, char **argv)
{
    for (auto &mode : modes) {
        if (argc == 2 && !strcmp(argv[1], mode.name))
            return mode.run();
        if (argc == 1)
            puts(mode.name);
    }
    return argc != 1 ? 99 : 0;
}
