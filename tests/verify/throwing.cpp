// What is initialised once fails at the first try: the routine of a once control (HOW 0), the
// initialiser of a function's variable (1). Whoever comes next tries again. With -DBUGGY a thread
// does not ask whether it was its own try that failed.
#include <atomic>
#include <cassert>
#include <mutex>
#include <thread>

static std::atomic<int> tries;
static int ready;

static void initialise()
{
    if (tries++ == 0)
        throw 1;
    ready = 1;
}

static bool initialised()
{
    try {
#if HOW == 0
        static std::once_flag once;
        std::call_once(once, initialise);
#else
        static struct resource {
            resource() { initialise(); }
        } only;
#endif
        return true;
    } catch (int) {
        return false;
    }
}

static void use()
{
#ifdef BUGGY
    initialised();
#else
    while (!initialised()) {
    }
#endif
    assert(ready == 1);
}

int main()
{
    std::thread other(use);
    if (initialised())
        assert(ready == 1);
    other.join();
    assert(tries >= 1 && tries <= 2);
}
