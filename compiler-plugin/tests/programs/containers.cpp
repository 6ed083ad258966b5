// Containers of libstdc++, some of whose functions the plugin has bodies of its own for: what they do
// to the nodes is what the library does. Everything is printed as it lies in memory.
#include <chrono>
#include <cstdio>
#include <future>
#include <list>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <unordered_map>

static unsigned state = 1;
static unsigned next(unsigned below) {
  state = state * 1664525 + 1013904223;
  return (state >> 8) % below;
}

static void shape(const std::_Rb_tree_node_base *node) {
  if (!node) { std::printf("."); return; }
  bool orphan = node->_M_left && node->_M_left->_M_parent != node;
  orphan |= node->_M_right && node->_M_right->_M_parent != node;
  auto key = static_cast<const std::_Rb_tree_node<int> *>(node)->_M_valptr();
  std::printf("(%d%c%s", *key, node->_M_color == std::_S_red ? 'r' : 'b', orphan ? "!" : "");
  shape(node->_M_left);
  shape(node->_M_right);
  std::printf(")");
}

static void trees() {
  for (unsigned size : {3u, 8u, 40u}) {
    std::multiset<int> set;
    for (int round = 0; round < 300; round++) {
      if (set.empty() || next(size) > set.size()) {
        set.insert(next(3) ? (int)next(size) : (int)next(3));
      } else {
        auto at = set.begin();
        for (unsigned n = next(set.size()); n > 0; n--) ++at;
        set.erase(at);
      }
      shape(set.end()._M_node->_M_parent);
      unsigned sum = 0;
      for (auto at = set.rbegin(); at != set.rend(); ++at) sum = sum * 7 + *at;
      for (auto at = set.cbegin(); at != set.cend(); ++at) sum = sum * 5 + *at;
      std::printf(" %u %d %d\n", sum, set.empty() ? 0 : *set.begin(), set.empty() ? 0 : *set.rbegin());
    }
  }
  std::map<std::string, int> words;
  for (int i = 0; i < 60; i++) words["w" + std::to_string(next(30))] += i;
  words.erase("w3");
  std::map<std::string, int> copy = words, other;
  other.swap(copy);
  for (auto &[word, n] : other) std::printf("%s=%d ", word.c_str(), n);
  std::printf("%zu %zu\n", copy.size(), other.count("w5"));
}

static void lists() {
  std::list<int> a, b;
  for (int round = 0; round < 400; round++) {
    auto place = [](std::list<int> &l) {
      auto at = l.begin();
      for (unsigned n = next(l.size() + 1); n > 0; n--) ++at;
      return at;
    };
    switch (next(9)) {
    case 0: case 1: a.insert(place(a), round); break;
    case 2: b.push_back(-round); break;
    case 3: if (!a.empty()) a.pop_front(); break;
    case 4: a.reverse(); break;
    case 5: a.swap(b); break;
    case 6: a.splice(place(a), b, b.begin(), place(b)); break;
    case 7: if (!b.empty()) a.splice(place(a), b, b.begin()); break;
    case 8: if (next(4) == 0) { a.sort(); b.sort(); a.merge(b); } break;
    }
    for (int x : a) std::printf("%d ", x);
    std::printf("|");
    for (auto at = b.rbegin(); at != b.rend(); ++at) std::printf(" %d", *at);
    std::printf("\n");
  }
}

static void tables() {
  for (float load : {1.0f, 0.7f, 3.0f}) {
    std::unordered_map<int, int> table;
    table.max_load_factor(load);
    for (int i = 0; i < 400; i++) {
      table[next(500)] = i;
      if (i % 50 == 49) table.erase(table.begin());
      if (i == 120) table.rehash(0);
      if (i == 200) table.reserve(2000);
      std::printf("%zu ", table.bucket_count());
    }
    for (auto &[k, v] : table) std::printf("%d:%d ", k, v);
    std::printf("\n");
  }
  std::unordered_map<std::string, int> words;
  for (int i = 0; i < 50; i++) words[std::string(i, 'a' + i % 26)] = i;
  for (auto &[word, n] : words) std::printf("%s:%d ", word.c_str(), n);
  for (int i = 0; i < 40; i++) {
    std::string text;
    for (int k = 0; k < i; k++) text += (char)next(256);
    std::printf("%zx ", std::hash<std::string>()(text));
    std::printf("%zx ", std::_Hash_bytes(text.data(), text.size(), next(1000)));
  }
  std::printf("\n");
}

static void strings() {
  std::string a = "start", b(20, 'x');
  for (int round = 0; round < 300; round++) {
    switch (next(12)) {
    case 0: a += "piece"; break;
    case 1: a.append(b, 0, next(30)); break;
    case 2: a.insert(next(a.size() + 1), "in"); break;
    case 3: a.erase(next(a.size() + 1), next(5)); break;
    case 4: a.replace(next(a.size() + 1), next(4), "longer text"); break;
    case 5: b = a; break;
    case 6: b = a.substr(next(a.size() + 1)); break;
    case 7: a.swap(b); break;
    case 8: a.resize(next(40), 'r'); break;
    case 9: a.reserve(next(100)); break;
    case 10: a.push_back('p'); break;
    case 11: b = std::move(a); a = std::to_string(round); break;
    }
    if (a.size() > 200) a.clear();
    std::printf("%s|%s %zu %zu %zu %d\n", a.c_str(), b.c_str(), a.find("ie"), a.rfind('x'),
                a.find_first_of("px"), a.compare(b) > 0);
  }
  try { a.at(a.size()); } catch (const std::exception &e) { std::printf("%s\n", e.what()); }
  std::wstring wide = L"wide";
  wide += L" text, and more of it";
  std::printf("%zu %d\n", wide.size(), (int)wide.find(L','));
}

static void futures() {
  std::promise<int> promise;
  auto future = promise.get_future();
  auto soon = std::chrono::milliseconds(1);
  std::printf("%d ", future.wait_for(soon) == std::future_status::timeout);
  auto past = std::chrono::steady_clock::now() - soon;
  std::printf("%d ", future.wait_until(past) == std::future_status::timeout);
  std::thread thread([&] { promise.set_value(7); });
  std::printf("%d ", future.get());
  thread.join();
  auto task = std::async(std::launch::async, [] { return 8; });
  task.wait();
  std::printf("%d\n", task.get());
}

int main() {
  trees();
  lists();
  tables();
  strings();
  futures();
}
