// The initialiser of a function-local variable takes a lock that its users hold.
#include <mutex>
#include <thread>

static std::mutex lock;

struct Table {
    int size;
    Table()
    {
#ifndef FIXED
        std::lock_guard<std::mutex> held(lock);
#endif
        size = 3;
    }
};

static Table &table()
{
    static Table one;
    return one;
}

int main()
{
    std::thread a([] { return table().size; });
    std::thread b([] {
        std::lock_guard<std::mutex> held(lock);
        return table().size;
    });
    a.join();
    b.join();
    return table().size - 3;
}
