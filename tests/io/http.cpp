// A small HTTP server on the loopback network: an acceptor, two workers with a queue of
// connections, two clients. The bug: a worker reads a request with one recv, and takes what came
// so far for all of it.
#include <arpa/inet.h>
#include <cassert>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <netinet/in.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>
#include <vector>

static std::mutex lock;
static std::condition_variable arrived;
static std::deque<int> connections;
static sockaddr_in address;

static std::string request(int fd) {
    std::string text;
    char buffer[64];
#ifdef FIXED
    while (text.find("\r\n\r\n") == std::string::npos) {
#endif
        ssize_t n = recv(fd, buffer, sizeof buffer, 0);
        assert(n > 0);
        text.append(buffer, n);
#ifdef FIXED
    }
#endif
    return text;
}

static void worker() {
    for (;;) {
        std::unique_lock<std::mutex> guard(lock);
        arrived.wait(guard, [] { return !connections.empty(); });
        int fd = connections.front();
        connections.pop_front();
        guard.unlock();
        if (fd < 0)
            return;
        std::string text = request(fd);
        bool whole = text.size() >= 4 && text.compare(text.size() - 4, 4, "\r\n\r\n") == 0;
        std::string answer = whole ? "HTTP/1.0 200 OK\r\n\r\nhello" : "HTTP/1.0 400 Bad\r\n\r\n";
        send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
        close(fd);
    }
}

static void client() {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert(connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    for (std::string part : {"GET / HTTP/1.0\r\n", "\r\n"})
        assert(send(fd, part.data(), part.size(), MSG_NOSIGNAL) > 0);
    std::string answer;
    char buffer[64];
    for (ssize_t n; (n = recv(fd, buffer, sizeof buffer, 0)) > 0;)
        answer.append(buffer, n);
    assert(answer.find("200 OK") != std::string::npos);
    close(fd);
}

static void hand_over(int fd) {
    std::lock_guard<std::mutex> guard(lock);
    connections.push_back(fd);
    arrived.notify_one();
}

int main() {
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    address.sin_family = AF_INET;
    address.sin_port = htons(18080);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert(bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof address) == 0);
    assert(listen(listener, 8) == 0);
    std::vector<std::thread> workers, clients;
    for (int i = 0; i < 2; i++)
        workers.emplace_back(worker);
    for (int i = 0; i < 2; i++)
        clients.emplace_back(client);
    for (int i = 0; i < 2; i++)
        hand_over(accept(listener, nullptr, nullptr));
    for (auto &thread : clients)
        thread.join();
    for (int i = 0; i < 2; i++)
        hand_over(-1);
    for (auto &thread : workers)
        thread.join();
    close(listener);
    return 0;
}
