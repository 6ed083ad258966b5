// Asks for a machine's address in a function whose name is mangled.
#include <netdb.h>
#include <thread>

namespace net {
__attribute__((noinline)) bool ask(const char *name)
{
    return gethostbyname(name) != nullptr;
}
}

int main()
{
    bool known = false;
    std::thread asks([&] { known = net::ask("localhost"); });
    asks.join();
}
