// Exceptions across hooks, a static that several threads ask for at once, and a virtual call on an
// object that is still being constructed.
#include <atomic>
#include <cassert>
#include <stdexcept>
#include <string>
#include <thread>

struct Shape {
    virtual ~Shape() = default;
    virtual int corners() const { return 0; }
};
struct Square : Shape {
    std::string name = "a square that is too long for the small buffer";
    int corners() const override { return 4; }
};

static Shape *published;
static std::atomic<Shape *> safe;

static int once() {
    static const int value = [] { return int(std::to_string(42).size()); }();
    return value;
}

static void thrower(int depth) {
    if (depth == 0)
        throw std::runtime_error("thrown");
    std::string keep(40, 'x');
    thrower(depth - 1);
    assert(keep.empty());
}

int main() {
    std::thread maker([] {
        assert(once() == 2);
        auto *square = new Square;
#ifdef FIXED
        safe.store(square, std::memory_order_release);
#else
        published = square;
        square->name.clear();
#endif
        try {
            thrower(3);
            assert(!"nothing was thrown");
        } catch (const std::runtime_error &error) {
            assert(std::string(error.what()) == "thrown");
        }
    });
    std::thread user([] {
        assert(once() == 2);
#ifdef FIXED
        if (Shape *shape = safe.load(std::memory_order_acquire))
            assert(shape->corners() == 4);
#else
        if (Shape *shape = published)
            assert(static_cast<Square *>(shape)->name.empty());
#endif
    });
    maker.join();
    user.join();
}
