// A std::shared_ptr counts its owners atomically, but the pointer itself is an ordinary variable:
// one thread copies it while another replaces it.
#include <memory>
#include <mutex>
#include <thread>

static std::mutex lock;
static std::shared_ptr<int> current = std::make_shared<int>(1);
static int sum;

static void reader()
{
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    std::shared_ptr<int> copy = current;
    sum += *copy;
}

static void writer()
{
    auto fresh = std::make_shared<int>(2);
#ifdef FIXED
    std::lock_guard<std::mutex> guard(lock);
#endif
    current = fresh;
}

int main()
{
    std::thread r(reader), w(writer);
    r.join();
    w.join();
    (void)lock;
    return sum == 1 || sum == 2 ? 0 : 1;
}
