// A callback is registered and taken back while another thread asks for the stop: both wait in loops of
// libstdc++ for a bit that the other one holds.
#include <atomic>
#include <cassert>
#include <stop_token>
#include <thread>

int main()
{
    std::atomic<int> called = 0;
    std::stop_source source;
    std::thread thread([&] { std::stop_callback callback(source.get_token(), [&] { called++; }); });
    source.request_stop();
    thread.join();
    assert(called <= 1);
}
