// The same with C++ streams over a named pipe that two threads open: each open waits for the other
// side. The bug: the writer does not flush before it waits for the reader's answer.
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

int main() {
    std::string folder = "streams-" + std::string(6, 'X');
    assert(mkdtemp(folder.data()));
    std::string there = folder + "/there", back = folder + "/back";
    assert(mkfifo(there.c_str(), 0600) == 0 && mkfifo(back.c_str(), 0600) == 0);
    std::thread reader([&] {
        std::ifstream in(there);
        std::ofstream out(back);
        std::string line;
        assert(std::getline(in, line));
        out << line.size() << std::endl;
    });
    std::ofstream out(there);
    std::ifstream in(back);
    out << "question\n";
#ifdef FIXED
    out.flush();
#endif
    size_t answer = 0;
    in >> answer;
    assert(answer == 8);
    reader.join();
    unlink(there.c_str());
    unlink(back.c_str());
    rmdir(folder.c_str());
    return 0;
}
