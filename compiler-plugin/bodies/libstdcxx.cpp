// Functions that libstdc++'s headers only declare and that work on the program's own objects, with
// the layouts and names of the library's ABI. The plugin adds those that a module refers to, so that
// they get hooks like the program's code; the library's own bodies have none.
//
// No header is included: the declarations below are all that is known here of the library.

using Size = decltype(sizeof 0);

extern "C" long syscall(long number, ...) noexcept;
extern "C" int *__errno_location() noexcept;
extern "C" int pthread_join(unsigned long thread, void **result);
extern "C" int pthread_detach(unsigned long thread) noexcept;

namespace {

/// Unaligned words of memory, as hashes read them.
struct [[gnu::packed, gnu::may_alias]] Word {
  Size bits;
};

} // namespace

namespace std {

// --- std::map, std::set and their multiple kinds: red-black trees (Cormen et al., "Introduction to
// Algorithms", chapter 13). The header is red; its parent is the root, its children are the leftmost
// and the rightmost node.

enum _Rb_tree_color { _S_red, _S_black };

struct _Rb_tree_node_base {
  _Rb_tree_color color;
  _Rb_tree_node_base *parent;
  _Rb_tree_node_base *child[2];
};

using Node = _Rb_tree_node_base;

namespace {

bool is_black(const Node *node) { return !node || node->color == _S_black; }

/// The last node on the way from here towards one side.
Node *furthest(Node *node, int side) {
  while (Node *next = node->child[side])
    node = next;
  return node;
}

/// Which child of its parent the node is.
int side_of(const Node *node) { return node == node->parent->child[1]; }

/// Puts a node, or nothing, where another one hangs.
void put(Node *old, Node *node, Node &header) {
  if (header.parent == old)
    header.parent = node;
  else
    old->parent->child[side_of(old)] = node;
  if (node)
    node->parent = old->parent;
}

/// The child on the other side takes the node's place, which becomes its child on `side`.
void rotate(Node *node, int side, Node &header) {
  Node *up = node->child[!side];
  Node *inner = up->child[side];
  node->child[!side] = inner;
  if (inner)
    inner->parent = node;
  put(node, up, header);
  up->child[side] = node;
  node->parent = up;
}

/// The node after this one on the way to one side. From the last one that is the header.
Node *step(Node *node, int side) {
  if (Node *below = node->child[side])
    return furthest(below, !side);
  Node *above = node->parent;
  while (node == above->child[side]) {
    node = above;
    above = above->parent;
  }
  // The root may be the last node itself: then its parent, the header, is where the climb began.
  return node->child[side] == above ? node : above;
}

/// Every way down lacks a black node below `parent` on the side of `node`.
void restore(Node *node, Node *parent, Node &header) {
  while (node != header.parent && is_black(node)) {
    int side = node == parent->child[1];
    Node *sibling = parent->child[!side];
    if (!is_black(sibling)) {
      sibling->color = _S_black;
      parent->color = _S_red;
      rotate(parent, side, header);
      sibling = parent->child[!side];
    }
    if (is_black(sibling->child[0]) && is_black(sibling->child[1])) {
      sibling->color = _S_red;
      node = parent;
      parent = parent->parent;
      continue;
    }
    if (is_black(sibling->child[!side])) {
      sibling->child[side]->color = _S_black;
      sibling->color = _S_red;
      rotate(sibling, !side, header);
      sibling = parent->child[!side];
    }
    sibling->color = parent->color;
    parent->color = _S_black;
    if (Node *outer = sibling->child[!side])
      outer->color = _S_black;
    rotate(parent, side, header);
    break;
  }
  if (node)
    node->color = _S_black;
}

} // namespace

Node *_Rb_tree_increment(Node *node) noexcept { return step(node, 1); }

const Node *_Rb_tree_increment(const Node *node) noexcept {
  return step(const_cast<Node *>(node), 1);
}

Node *_Rb_tree_decrement(Node *node) noexcept {
  // Only of the header, besides the root, is the grandparent the node itself, and only it is red.
  if (node->color == _S_red && node->parent->parent == node)
    return node->child[1];
  return step(node, 0);
}

const Node *_Rb_tree_decrement(const Node *node) noexcept {
  return _Rb_tree_decrement(const_cast<Node *>(node));
}

void _Rb_tree_insert_and_rebalance(const bool left, Node *node, Node *parent,
                                   Node &header) noexcept {
  int side = !left;
  node->parent = parent;
  node->child[0] = node->child[1] = nullptr;
  node->color = _S_red;
  if (parent == &header) {
    header.parent = header.child[0] = header.child[1] = node;
  } else {
    parent->child[side] = node;
    if (parent == header.child[side])
      header.child[side] = node;
  }
  while (node != header.parent && node->parent->color == _S_red) {
    parent = node->parent;
    Node *grand = parent->parent;
    side = parent == grand->child[1];
    Node *uncle = grand->child[!side];
    if (!is_black(uncle)) {
      parent->color = uncle->color = _S_black;
      grand->color = _S_red;
      node = grand;
      continue;
    }
    if (node == parent->child[!side]) {
      rotate(parent, side, header);
      parent = node;
      node = node->child[side];
    }
    parent->color = _S_black;
    grand->color = _S_red;
    rotate(grand, !side, header);
  }
  header.parent->color = _S_black;
}

Node *_Rb_tree_rebalance_for_erase(Node *const node, Node &header) noexcept {
  for (int side = 0; side < 2; side++)
    if (header.child[side] == node)
      header.child[side] =
          node->child[!side] ? furthest(node->child[!side], side) : node->parent;
  Node *below, *parent;
  _Rb_tree_color removed;
  if (node->child[0] && node->child[1]) {
    // The next node takes its place, and its colour.
    Node *next = furthest(node->child[1], 0);
    below = next->child[1];
    removed = next->color;
    parent = next;
    if (next != node->child[1]) {
      parent = next->parent;
      put(next, below, header);
      next->child[1] = node->child[1];
      next->child[1]->parent = next;
    }
    put(node, next, header);
    next->child[0] = node->child[0];
    next->child[0]->parent = next;
    next->color = node->color;
    node->color = removed;
  } else {
    below = node->child[node->child[0] == nullptr];
    removed = node->color;
    parent = node->parent;
    put(node, below, header);
  }
  if (removed == _S_black)
    restore(below, parent, header);
  return node;
}

// --- std::list: rings of nodes.

namespace __detail {

struct _List_node_base {
  _List_node_base *next;
  _List_node_base *before;

  static void swap(_List_node_base &x, _List_node_base &y) noexcept;
  void _M_transfer(_List_node_base *first, _List_node_base *last) noexcept;
  void _M_reverse() noexcept;
  void _M_hook(_List_node_base *position) noexcept;
  void _M_unhook() noexcept;
};

namespace {

void join(_List_node_base *a, _List_node_base *b) {
  a->next = b;
  b->before = a;
}

} // namespace

void _List_node_base::swap(_List_node_base &x, _List_node_base &y) noexcept {
  _List_node_base of_x = x, of_y = y;
  bool had_x = of_x.next != &x, had_y = of_y.next != &y;
  join(&y, had_x ? of_x.next : &y);
  join(had_x ? of_x.before : &y, &y);
  join(&x, had_y ? of_y.next : &x);
  join(had_y ? of_y.before : &x, &x);
}

void _List_node_base::_M_transfer(_List_node_base *const first,
                                  _List_node_base *const last) noexcept {
  if (this == last)
    return;
  _List_node_base *end = last->before, *place = before;
  join(first->before, last);
  join(place, first);
  join(end, this);
}

void _List_node_base::_M_reverse() noexcept {
  _List_node_base *node = this;
  do {
    _List_node_base *following = node->next;
    node->next = node->before;
    node->before = following;
    node = following;
  } while (node != this);
}

void _List_node_base::_M_hook(_List_node_base *const position) noexcept {
  join(position->before, this);
  join(this, position);
}

void _List_node_base::_M_unhook() noexcept { join(before, next); }

// --- std::unordered_map and its kin: when a table grows. By how much the library says, which knows
// the primes: it depends on nothing but the size that is asked for.

struct _Prime_rehash_policy {
  float most_per_bucket;
  mutable Size next_resize;

  struct Grown {
    bool needed;
    Size buckets;
  };

  Size _M_next_bkt(Size least) const;
  Grown _M_need_rehash(Size buckets, Size elements, Size more) const;
};

namespace {

// None of these is inlined: LLVM would compute both sides of a choice, or find that they are one.

[[gnu::noinline]] Size divided(Size n, float by) { return Size(n / double(by)); }

[[gnu::noinline]] Size multiplied(Size n, float by) { return Size(n * double(by)); }

[[gnu::noinline]] Size grown(Size least, float most_per_bucket, Size &next_resize) {
  _Prime_rehash_policy copy = {most_per_bucket, 0};
  Size buckets = copy._M_next_bkt(least);
  next_resize = copy.next_resize;
  return buckets;
}

/// The same with one element per bucket.
[[gnu::noinline]] Size grown(Size least, Size &next_resize) {
  _Prime_rehash_policy copy = {1.0f, 0};
  Size buckets = copy._M_next_bkt(least);
  next_resize = copy.next_resize;
  return buckets;
}

} // namespace

_Prime_rehash_policy::Grown
_Prime_rehash_policy::_M_need_rehash(Size buckets, Size elements, Size more) const {
  Size wanted = elements + more;
  if (wanted <= next_resize)
    return {false, 0};
  // The first table has room for eleven.
  if (next_resize == 0 && wanted < 11)
    wanted = 11;
  // With the usual load nothing depends on floating point.
  bool one = most_per_bucket == 1.0f;
  Size least = one ? wanted : divided(wanted, most_per_bucket);
  if (least < buckets) {
    next_resize = one ? buckets : multiplied(buckets, most_per_bucket);
    return {false, 0};
  }
  Size doubled = 2 * buckets, enough = least + 1;
  if (enough < doubled)
    enough = doubled;
  Size more_buckets =
      one ? grown(enough, next_resize) : grown(enough, most_per_bucket, next_resize);
  return {true, more_buckets};
}

} // namespace __detail

/// MurmurHash64A.
Size _Hash_bytes(const void *data, Size length, Size seed) {
  constexpr Size MULTIPLIER = 0xc6a4a7935bd1e995;
  auto mix = [](Size word) { return word ^ word >> 47; };
  auto at = static_cast<const unsigned char *>(data);
  Size hash = seed ^ length * MULTIPLIER;
  for (; length >= 8; at += 8, length -= 8) {
    Size word = reinterpret_cast<const Word *>(at)->bits;
    hash = (hash ^ mix(word * MULTIPLIER) * MULTIPLIER) * MULTIPLIER;
  }
  if (length) {
    Size word = 0;
    for (Size i = length; i-- > 0;)
      word = word << 8 | at[i];
    hash = (hash ^ word) * MULTIPLIER;
  }
  return mix(mix(hash) * MULTIPLIER);
}

// --- std::thread: the end of one that can be joined. Another thread may have begun it.

[[noreturn]] void __throw_system_error(int error);

struct thread {
  unsigned long id;

  void join();
  void detach();
};

namespace {

constexpr int NOT_JOINABLE = 22; // EINVAL

/// Afterwards there is nothing to join.
void finish(thread &thread, int error) {
  if (error)
    __throw_system_error(error);
  thread.id = 0;
}

} // namespace

void thread::join() { finish(*this, id ? pthread_join(id, nullptr) : NOT_JOINABLE); }

void thread::detach() { finish(*this, id ? pthread_detach(id) : NOT_JOINABLE); }

// --- std::future: waits for a word of the shared state.

template <long, long> struct ratio;

namespace chrono {
template <class Number, class Period> struct duration {
  Number count;
};
} // namespace chrono

namespace {

constexpr long SYS_futex = 202;
constexpr int WAIT = 0, WAKE = 1, WAIT_BITSET = 9, REALTIME = 256, TIMED_OUT = 110;

/// `false`: the time has come.
bool wait(unsigned *word, unsigned expected, bool timed, long seconds, long rest, int clock) {
  if (!timed) {
    syscall(SYS_futex, word, WAIT, expected, nullptr);
    return true;
  }
  struct {
    long seconds, nanoseconds;
  } moment = {seconds, rest};
  if (seconds < 0)
    return false;
  long result = syscall(SYS_futex, word, WAIT_BITSET | clock, expected, &moment, nullptr, ~0u);
  return result != -1 || *__errno_location() != TIMED_OUT;
}

} // namespace

struct __atomic_futex_unsigned_base {
  using Seconds = chrono::duration<long, ratio<1, 1>>;
  using Nanoseconds = chrono::duration<long, ratio<1, 1000000000>>;

  bool _M_futex_wait_until(unsigned *word, unsigned expected, bool timed, Seconds s,
                           Nanoseconds rest);
  bool _M_futex_wait_until_steady(unsigned *word, unsigned expected, bool timed, Seconds s,
                                  Nanoseconds rest);
  static void _M_futex_notify_all(unsigned *word);
};

bool __atomic_futex_unsigned_base::_M_futex_wait_until(unsigned *word, unsigned expected,
                                                       bool timed, Seconds s, Nanoseconds rest) {
  return wait(word, expected, timed, s.count, rest.count, REALTIME);
}

bool __atomic_futex_unsigned_base::_M_futex_wait_until_steady(unsigned *word, unsigned expected,
                                                              bool timed, Seconds s,
                                                              Nanoseconds rest) {
  return wait(word, expected, timed, s.count, rest.count, 0);
}

void __atomic_futex_unsigned_base::_M_futex_notify_all(unsigned *word) {
  syscall(SYS_futex, word, WAKE, 0x7fffffff);
}

} // namespace std
