// Loops that only wait, by calls of functions that -O0 leaves as they are. HOW: which. A round is no
// path, so a few executions are all. HOW 4 gives up after three rounds, which hands on their number:
// then the value may not be there, as -DBUGGY says it must.
#include <atomic>
#include <cassert>
#include <thread>

static std::atomic<int> ready{0};
static int value;

static bool is_ready() { return ready.load(std::memory_order_acquire) == 1; }

struct Gate {
    bool is_open() const { return is_ready(); }
    void pass() const
    {
        while (!is_open())
            std::this_thread::yield();
    }
};

static void put()
{
    value = 1;
    ready = 1;
}

int main()
{
    std::thread thread(put);
#if HOW == 0
    while (ready.load() == 0)
        std::this_thread::yield();
#elif HOW == 1
    while (ready != 1) {
    }
#elif HOW == 2
    while (!is_ready()) {
    }
#elif HOW == 3
    Gate().pass();
#elif HOW == 4
    int rounds = 0;
    while (!is_ready() && rounds < 3)
        rounds++;
#endif
#ifndef BUGGY
    if (ready)
#endif
        assert(value == 1);
    thread.join();
    return 0;
}
