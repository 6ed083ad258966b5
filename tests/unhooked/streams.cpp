// Two threads use one stream, whose functions lie in libstdc++.
#include <cassert>
#include <sstream>
#include <thread>

int main() {
  std::ostringstream stream;
  std::thread one([&] { stream << "a"; });
  std::thread two([&] { assert(stream.str().empty()); });
  one.join();
  two.join();
}
