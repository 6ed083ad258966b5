/* `exceptions BAD`: a thread carries a letter that another one changes from a to x in the text of an exception, in the
 * way HOW; it must not be BAD. */
#include <cassert>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
char b[16] = "abc";
int r;
std::mutex m;
std::runtime_error err("abc");

int main(int, char **argv) {
  std::thread f([] {
    std::lock_guard<std::mutex> l(m);
#if HOW==1
    err = std::runtime_error("xbc");
#else
    b[0] = 'x';
#endif
  });
  std::thread g([] {
    std::lock_guard<std::mutex> l(m);
#if HOW==0
    std::runtime_error e(b); r = e.what()[0];
#elif HOW==1
    r = err.what()[0];
#elif HOW==2
    try { throw std::out_of_range(b); } catch (std::exception &e) { r = e.what()[0]; }
#elif HOW==3
    std::logic_error e(b), e2(e); r = e2.what()[0];
#elif HOW==4
    std::runtime_error e("q"); e = std::runtime_error(b); r = e.what()[0];
#elif HOW==5
    struct E : std::length_error { using std::length_error::length_error; }; E e(b); std::string s = e.what(); r = s[0];
#elif HOW==6
    try { throw std::runtime_error(std::string(b)); } catch (std::exception &e) { r = e.what()[0]; }
#endif
  });
  f.join();
  g.join();
  assert(r != argv[1][0]);
}
