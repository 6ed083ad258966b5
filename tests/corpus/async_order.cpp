// std::async: the second task relies on what the first one computes, and nothing but its future
// makes it wait. The exception that it throws ends the program.
#include <future>
#include <mutex>
#include <stdexcept>

static std::mutex lock;
static int parsed;

static int parse()
{
    std::lock_guard<std::mutex> guard(lock);
    parsed = 21;
    return parsed;
}

static int evaluate()
{
    std::lock_guard<std::mutex> guard(lock);
    if (parsed == 0)
        throw std::logic_error("nothing was parsed");
    return parsed * 2;
}

int main()
{
    auto first = std::async(std::launch::async, parse);
#ifdef FIXED
    first.wait();
#endif
    auto second = std::async(std::launch::async, evaluate);
    return second.get() == 42 && first.get() == 21 ? 0 : 1;
}
