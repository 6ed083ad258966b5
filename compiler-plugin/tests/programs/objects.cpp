// C++: exceptions, virtual calls, guards, coroutines, inline and template functions.
#include <algorithm>
#include <atomic>
#include <coroutine>
#include <cstdio>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

static int alive;
struct Counted {
  int n;
  explicit Counted(int n) : n(n) { ++alive; }
  Counted(const Counted &o) : n(o.n) { ++alive; }
  Counted(Counted &&o) noexcept : n(o.n) { ++alive; o.n = -1; }
  ~Counted() { --alive; }
};

struct Shape { virtual ~Shape() = default; virtual double area() const = 0; };
struct Named { virtual const char *name() const { return "?"; } };
struct Square : virtual Named, Shape { double a; Square(double a) : a(a) {} double area() const override { return a * a; } const char *name() const override { return "square"; } };
struct Circle final : Square { using Square::Square; double area() const override { return 3 * a * a; } };

static int thrower(int n) {
  Counted c(n);
  if (n % 4 == 0) throw n;
  if (n % 4 == 1) throw std::runtime_error("one " + std::to_string(n));
  if (n % 4 == 2) throw Counted(n);
  return n;
}

static int nested(int n) noexcept(false) {
  try { return thrower(n); }
  catch (const std::exception &e) { std::string s = e.what(); return (int)s.size(); }
  catch (int v) { try { throw; } catch (int w) { return v + w; } }
}

struct Final { ~Final() noexcept(false) { if (alive > 1000) throw 1; } };

static int guarded() { static Counted once(alive + 5); return once.n; }
inline int shared_static() { static int n = 10; return n++; }
template <class T> T biggest(std::vector<T> v) { Final f; return *std::max_element(v.begin(), v.end()); }

struct Generator {
  struct promise_type {
    int value = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) { value = v; return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  ~Generator() { handle.destroy(); }
  std::optional<int> next() { handle.resume(); if (handle.done()) return {}; return handle.promise().value; }
};
static Generator squares(int n) { Counted c(n); for (int i = 0; i < n; i++) co_yield i * i + alive; }

struct Big { long a[5]; Big operator+(const Big &o) const { Big r = *this; for (int i = 0; i < 5; i++) r.a[i] += o.a[i]; return r; } };
static Big add(Big x, Big y) { return x + y; }
struct Pair { long a, b; };
static Pair twist(Pair p) { return {p.b + alive, p.a}; }

int main() {
  for (int i = 0; i < 8; i++) {
    try { std::printf("%d ", nested(i)); } catch (Counted &c) { std::printf("counted %d ", c.n); }
  }
  std::printf("alive %d\n", alive);
  std::vector<std::unique_ptr<Shape>> shapes;
  shapes.push_back(std::make_unique<Square>(2.0)); shapes.push_back(std::make_unique<Circle>(1.5));
  for (auto &s : shapes) std::printf("%s %g ", dynamic_cast<Named *>(s.get())->name(), s->area());
  std::printf("%d %d %d %d\n", guarded(), guarded(), shared_static(), shared_static());
  std::map<std::string, int> words;
  for (auto w : {"b", "a", "c", "a"}) words[w] += (int)words.size();
  for (auto &[w, n] : words) std::printf("%s=%d ", w.c_str(), n);
  std::printf("%d %s\n", biggest(std::vector<int>{3, 9, 2}), biggest(std::vector<std::string>{"x", "yy"}).c_str());
  auto generator = squares(4);
  while (auto v = generator.next()) std::printf("%d ", *v);
  std::function<int(int)> f = [&](int x) { return x * alive + (int)words.size(); };
  std::variant<int, std::string> either = "text";
  std::printf("%d %zu\n", f(7), std::get<std::string>(either).size());
  Big x{{1, 2, 3, 4, 5}}, y = add(x, x);
  Pair p = twist({y.a[4], 3});
  std::shared_ptr<Counted> a = std::make_shared<Counted>(3), b = a;
  std::printf("%ld %ld %ld %ld\n", y.a[2], p.a, p.b, a.use_count());
  std::atomic<long> n{5}; std::atomic<double> d{1.5}; n += 3; d.store(d + 2); long expected = 8;
  std::printf("%d %ld %g %d\n", n.compare_exchange_strong(expected, 9), n.load(), d.load(), alive);
}
