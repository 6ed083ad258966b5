// Two locks are taken together in both orders; std::scoped_lock gives back the first one where the
// second one is busy, and begins again with that one.
#include <mutex>
#include <thread>

static std::mutex a, b;

int main()
{
    std::thread first([] { std::scoped_lock both(a, b); });
    std::thread second([] { std::scoped_lock both(b, a); });
    first.join();
    second.join();
}
