// A stand-in for libraddle.so that checks what instrumented code tells it.
//
// Every expression node is computed from the concrete input when it is built. Wherever a hook gets
// an expression together with a concrete value, the two must agree; anything else ends the program
// with status 99. With TEST_DUMP=FILE the nodes, decisions and outputs are written there.
//
// TEST_MODE: the value of raddle_mode; and with 4 no loop runs as compiled, and what is told of the
// accesses in loops is checked. TEST_INPUT: hexadecimal bytes for raddle_symbolic.

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef unsigned __int128 u128;
typedef __int128 i128;

uint32_t raddle_mode;
u32 raddle_sym_args[64];
uintptr_t raddle_sym_copies[64];
uintptr_t raddle_sym_callee, raddle_sym_returner;
u32 raddle_sym_result;

enum {
  CONST = 1, INPUT = 2, ADD = 10, SUB, MUL, UDIV, SDIV, UREM, SREM, SHL, LSHR, ASHR, AND, OR, XOR,
  EQ = 30, NE, ULT, ULE, SLT, SLE, ITE = 40, ZEXT, SEXT, EXTRACT, CONCAT,
};

static struct node { u8 op, width; u32 extra, a, b, c; u128 value; } *nodes;
static u32 node_count = 1, node_space;
static FILE *dump;
static u64 plain, losses;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("hook check: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  abort();
}

static u128 mask(u32 width) { return ~(u128)0 >> (128 - width); }
static i128 sign(u128 v, u32 width) { return (i128)(v << (128 - width)) >> (128 - width); }

static u128 compute(const struct node *n) {
  u128 a = n->a && n->op >= ADD ? nodes[n->a].value : 0;
  u128 b = n->b && n->op >= ADD ? nodes[n->b].value : 0;
  u32 w = n->op >= ADD ? nodes[n->a].width : n->width;
  i128 sa = sign(a, w), sb = sign(b, w ? w : 1);
  switch (n->op) {
  case ADD: return a + b;
  case SUB: return a - b;
  case MUL: return a * b;
  case UDIV: return b ? a / b : ~(u128)0;
  case SDIV: return !b ? (sa < 0 ? (u128)1 : ~(u128)0) : sb == -1 ? -(u128)sa : (u128)(sa / sb);
  case UREM: return b ? a % b : a;
  case SREM: return !b ? a : sb == -1 ? 0 : (u128)(sa % sb);
  case SHL: return b >= w ? 0 : a << b;
  case LSHR: return b >= w ? 0 : a >> b;
  case ASHR: return (u128)(sa >> (b >= w ? w - 1 : b));
  case AND: return a & b;
  case OR: return a | b;
  case XOR: return a ^ b;
  case EQ: return a == b;
  case NE: return a != b;
  case ULT: return a < b;
  case ULE: return a <= b;
  case SLT: return sa < sb;
  case SLE: return sa <= sb;
  case ITE: return a ? b : nodes[n->c].value;
  case ZEXT: return a;
  case SEXT: return (u128)sa;
  case EXTRACT: return a >> n->extra;
  case CONCAT: return a << nodes[n->b].width | b;
  default: fail("operation %d", n->op);
  }
}

static u32 add_node(u8 op, u32 width, u32 extra, u32 a, u32 b, u32 c, u128 value) {
  if (width < 1 || width > 128) fail("width %u of operation %u", width, op);
  if (node_count >= node_space) {
    node_space = node_space ? 2 * node_space : 1024;
    nodes = realloc(nodes, node_space * sizeof *nodes);
  }
  struct node *n = &nodes[node_count];
  *n = (struct node){op, width, extra, a, b, c, 0};
  n->value = (op == CONST || op == INPUT ? value : compute(n)) & mask(width);
  if (dump)
    fprintf(dump, "n %u %u %u %u %u %u %" PRIu64 "\n", op, width, extra, a, b, c, (u64)n->value);
  return node_count++;
}

static u32 constant(u32 width, u128 value) {
  if (width <= 64) return add_node(CONST, width, 0, 0, 0, 0, value);
  u32 low = constant(64, (u64)value), high = constant(width - 64, (u64)(value >> 64));
  return add_node(CONCAT, width, 0, high, low, 0, 0);
}

// An operand: an expression that must agree with its value, or a constant.
static u32 operand(const char *who, u32 expr, u32 width, u128 value) {
  if (!expr) return constant(width, value);
  if (expr >= node_count) fail("%s: no expression %u", who, expr);
  if (nodes[expr].width != width)
    fail("%s: width %u, expression %u has %u", who, width, expr, nodes[expr].width);
  if (nodes[expr].value != (value & mask(width)))
    fail("%s: value %" PRIx64 ", expression %u is %" PRIx64, who, (u64)(value & mask(width)), expr,
         (u64)nodes[expr].value);
  return expr;
}

// The shadow: for each byte the expression and which byte of it.
enum { SLOTS = 1 << 20 };
static struct cell { uintptr_t at; u32 expr, byte, awaited; } *cells;
// Questions about loops, bytes that the loops of the last one are still to access, loops that ran as
// compiled.
static u32 questions;
static u64 awaited, as_compiled;
static int refuses;

static struct cell *cell(uintptr_t at, int make) {
  if (!cells) cells = calloc(SLOTS, sizeof *cells);
  for (size_t i = at * 0x9E3779B97F4A7C15ull >> 44;; i++) {
    struct cell *c = &cells[i % SLOTS];
    if (c->at == at) return c;
    if (!c->at) {
      if (!make) return 0;
      c->at = at;
      return c;
    }
  }
}

static void met(struct cell *c) {
  if (c && c->awaited) c->awaited = 0, awaited--;
}

static void put(void *at, u32 size, u32 expr) {
  for (u32 i = 0; i < size; i++) {
    struct cell *c = cell((uintptr_t)at + i, expr != 0);
    met(c);
    if (c) c->expr = expr, c->byte = i;
  }
}

static u32 get(void *at, u32 size) {
  u32 first = 0, same = 1, any = 0;
  for (u32 i = 0; i < size; i++) {
    struct cell *c = cell((uintptr_t)at + i, 0);
    met(c);
    u32 expr = c ? c->expr : 0;
    if (i == 0) first = expr;
    any |= expr;
    same &= c && expr == first && c->byte == i;
  }
  if (!any) return 0;
  u64 value = 0;
  memcpy(&value, at, size);
  if (same && nodes[first].width == 8 * size) return operand("read", first, 8 * size, value);
  u32 whole = 0;
  for (u32 i = 0; i < size; i++) {
    struct cell *c = cell((uintptr_t)at + i, 0);
    u32 part = c && c->expr ? add_node(EXTRACT, 8, 8 * c->byte, c->expr, 0, 0, 0)
                            : constant(8, value >> 8 * i);
    operand("read byte", part, 8, value >> 8 * i);
    whole = whole ? add_node(CONCAT, 8 * (i + 1), 0, part, whole, 0, 0) : part;
  }
  return operand("read", whole, 8 * size, value);
}

static void decision(u32 expr, u64 value) {
  if (nodes[expr].width > 64) fail("decision on %u bits", nodes[expr].width);
  operand("decision", expr, nodes[expr].width, value);
  if (dump) fprintf(dump, "b %u %" PRIu64 "\n", expr, (u64)nodes[expr].value);
}

// Loops that may run as compiled. As `Stretch` in protocol/src/hooks.rs has it.
struct stretch { u64 start, size, base, room, manner, levels[3][2]; };
enum { CONSTANTS = 4, ALWAYS = 8 };

static void all_met(void) {
  if (awaited) fail("%" PRIu64 " bytes were not accessed by loops that always do", awaited);
}

static u32 settled_byte(const struct stretch *s, u64 at) {
  if (s->manner & CONSTANTS) return 1;
  struct cell *c = cell(at, refuses && s->manner & ALWAYS);
  if (refuses && s->manner & ALWAYS && !c->awaited) c->awaited = questions, awaited++;
  return (!s->room || at - s->base < s->room) && (!c || !c->expr);
}

u32 raddle_sym_settled(const struct stretch *all, u32 count) {
  u32 settled = !refuses;
  all_met();
  questions++;
  for (const struct stretch *s = all; s < all + count; s++)
    for (u64 k = 0; k < s->levels[2][1]; k++)
      for (u64 j = 0; j < s->levels[1][1]; j++)
        for (u64 i = 0; i < s->levels[0][1]; i++)
          for (u64 byte = 0; byte < s->size; byte++)
            settled &= settled_byte(s, s->start + k * s->levels[2][0] + j * s->levels[1][0] +
                                           i * s->levels[0][0] + byte);
  as_compiled += settled;
  return settled;
}

// Scheduling hooks. In a symbolic run they come from functions with one body, which concretise.
static void concrete(u8 *p, u64 len) {
  if (!(raddle_mode & 2)) return;
  for (u64 i = 0; i < len; i++) {
    struct cell *c = cell((uintptr_t)p + i, 0);
    if (!c || !c->expr) continue;
    u32 expr = add_node(EXTRACT, 8, 8 * c->byte, c->expr, 0, 0, 0);
    // Variadic arguments were put on the stack out of sight.
    if (nodes[expr].value == p[i]) decision(expr, p[i]);
    else c->expr = 0;
  }
}

#define PLAIN(n, T)                                                                                \
  T raddle_read##n(T *p) { plain++; concrete((u8 *)p, n); return *p; }                             \
  void raddle_write##n(T *p, T v) { plain++; *p = v; put(p, n, 0); }
PLAIN(1, u8) PLAIN(2, u16) PLAIN(4, u32) PLAIN(8, u64)

u32 raddle_stepwise(u32 model, u64 *arguments) { (void)model; (void)arguments; return 0; }
void raddle_copy(void *to, void *from, u64 len, u32 how) {
  plain++;
  concrete(from, len);
  memmove(to, from, len);
  (void)how;
}
void raddle_fill(void *p, u8 byte, u64 len) { plain++; memset(p, byte, len); }
void raddle_range_read(void *p, u64 len) { plain++; concrete(p, len); }
void raddle_range_write(void *p, u64 len) { plain++; (void)p; (void)len; }
void raddle_call(u64 what, void *name, void *frame) { plain++; (void)what; (void)name; (void)frame; }
void raddle_called(u64 what, void *frame, u64 result) { plain++; (void)what; (void)frame; (void)result; }
void raddle_wide_begin(void *p, u64 len, u32 what, void *expected) { plain++; concrete(p, len); (void)what; (void)expected; }
void raddle_wide_end(void *p, u64 len, u32 what) { (void)p; (void)len; (void)what; }
void raddle_fence(u32 order) { plain++; if (order > 5) fail("order %u", order); }
void raddle_asm(u32 what, u64 which, const char *name) { plain++; (void)which; if (what > 4 || (what > 1) != (name != 0)) fail("assembly %u", what); }

static u32 fresh_part(u32 expr, u32 from, u32 width) {
  return add_node(EXTRACT, width, from, expr, 0, 0, 0);
}

static u64 load(void *p, u32 size) {
  if (size != 1 && size != 2 && size != 4 && size != 8) fail("size %u", size);
  u64 v = 0;
  memcpy(&v, p, size);
  return v;
}
static void store(void *p, u32 size, u64 v) { memcpy(p, &v, size); }

u64 raddle_atomic_load(void *p, u32 size, u32 order) {
  plain++;
  if (order > 5) fail("order %u", order);
  concrete(p, size);
  return load(p, size);
}
void raddle_atomic_store(void *p, u64 v, u32 size, u32 order) {
  plain++;
  if (order > 5) fail("order %u", order);
  store(p, size, v);
  put(p, size, 0);
}
static u64 updated(u32 op, u64 a, u64 b, u32 size) {
  int64_t sa = sign(a, 8 * size), sb = sign(b, 8 * size);
  switch (op) {
  case 0: return b;
  case 1: return a + b;
  case 2: return a - b;
  case 3: return a & b;
  case 4: return ~(a & b);
  case 5: return a | b;
  case 6: return a ^ b;
  case 7: return sa > sb ? a : b;
  case 8: return sa < sb ? a : b;
  case 9: return a > b ? a : b;
  case 10: return a < b ? a : b;
  default: fail("update %u", op);
  }
}
u64 raddle_atomic_rmw(void *p, u64 v, u32 op, u32 size, u32 order) {
  plain++;
  if (order > 5) fail("order %u", order);
  concrete(p, size);
  u64 old = load(p, size);
  store(p, size, updated(op, old, v, size));
  put(p, size, 0);
  return old;
}
u64 raddle_atomic_cas(void *p, u64 expected, u64 new, u32 size, u32 order) {
  plain++;
  if ((order & 0xff) > 5 || order >> 8 < 1 || order >> 8 > 6) fail("order %u", order);
  concrete(p, size);
  u64 old = load(p, size);
  if (old == expected) store(p, size, new), put(p, size, 0);
  return old;
}

// Symbolic hooks.
static void address(void *p, u32 expr) {
  if (expr) operand("address", expr, 64, (u64)p), decision(expr, (u64)p);
}

u64 raddle_sym_read(void *p, u32 size, u32 at) {
  address(p, at);
  raddle_sym_result = get(p, size);
  return load(p, size);
}
void raddle_sym_write(void *p, u64 v, u32 size, u32 at, u32 expr) {
  address(p, at);
  if (expr) operand("write", expr, 8 * size, v);
  store(p, size, v);
  put(p, size, expr);
}
u64 raddle_sym_atomic_load(void *p, u32 size, u32 order, u32 at) {
  if (order > 5) fail("order %u", order);
  return raddle_sym_read(p, size, at);
}
void raddle_sym_atomic_store(void *p, u64 v, u32 size, u32 order, u32 expr) {
  if (order > 5) fail("order %u", order);
  raddle_sym_write(p, v, size, 0, expr);
}
u64 raddle_sym_atomic_rmw(void *p, u64 v, u32 op, u32 manner, u32 expr) {
  u32 size = manner & 0xff; // the order is above it
  u64 old = load(p, size);
  u32 before = get(p, size), after = 0, w = 8 * size;
  u64 new = updated(op, old, v, size);
  if (before || expr) {
    static const u8 plain_op[] = {0, ADD, SUB, AND, AND, OR, XOR};
    static const u8 order_op[] = {SLT, SLT, ULT, ULT};
    u32 a = operand("update", before, w, old), b = operand("update", expr, w, v);
    if (op == 0) after = b;
    else if (op == 4) after = add_node(XOR, w, 0, add_node(AND, w, 0, a, b, 0, 0), constant(w, ~0ull), 0, 0);
    else if (op < 7) after = add_node(plain_op[op], w, 0, a, b, 0, 0);
    else {
      u32 less = add_node(order_op[op - 7], 1, 0, a, b, 0, 0);
      after = op % 2 ? add_node(ITE, w, 0, less, b, a, 0) : add_node(ITE, w, 0, less, a, b, 0);
    }
  }
  store(p, size, new);
  put(p, size, after ? operand("updated", after, w, new) : 0);
  raddle_sym_result = before;
  return old;
}
u64 raddle_sym_atomic_cas(void *p, u64 expected, u64 new, u32 manner, u64 exprs) {
  u32 size = manner & 0xff;
  u32 w = 8 * size, e = (u32)exprs, n = exprs >> 32, before = get(p, size);
  u64 old = load(p, size);
  if (before || e) {
    u32 a = operand("cas", before, w, old), b = operand("cas", e, w, expected);
    decision(add_node(EQ, 1, 0, a, b, 0, 0), old == expected);
  }
  if (old == expected) raddle_sym_write(p, new, size, 0, n);
  raddle_sym_result = before;
  return old;
}
u32 raddle_sym_local_load(void *p, u32 size) { return get(p, size); }
void raddle_sym_local_store(void *p, u32 size, u32 expr) {
  if (expr) operand("local store", expr, 8 * size, load(p, size));
  put(p, size, expr);
}
void raddle_sym_copy(u8 *to, u8 *from, u64 len, u32 len_expr) {
  if (len_expr) operand("length", len_expr, 64, len), decision(len_expr, len);
  struct cell *shadow = calloc(len + 1, sizeof *shadow);
  for (u64 i = 0; i < len; i++) {
    struct cell *c = cell((uintptr_t)from + i, 0);
    if (c) shadow[i] = *c;
  }
  memmove(to, from, len);
  for (u64 i = 0; i < len; i++) {
    struct cell *c = cell((uintptr_t)to + i, shadow[i].expr != 0);
    if (c) c->expr = shadow[i].expr, c->byte = shadow[i].byte;
  }
  free(shadow);
}
void raddle_sym_set(u8 *to, u8 byte, u64 len, u32 expr, u32 len_expr) {
  if (len_expr) operand("length", len_expr, 64, len), decision(len_expr, len);
  if (expr) operand("byte", expr, 8, byte);
  memset(to, byte, len);
  for (u64 i = 0; i < len; i++) put(to + i, 1, expr);
}
void raddle_sym_forget(u8 *p, u64 len) {
  for (u64 i = 0; i < len; i++) put(p + i, 1, 0);
}
void raddle_sym_will_store(u8 *callee, u8 *p, u64 len, u32 how, u8 *call) {
  (void)callee, (void)p, (void)len, (void)how;
  if (!call) fail("a call without a key");
}
void raddle_sym_stored(u8 *callee, u8 *p, u64 len, u32 how, u8 *call) {
  (void)callee;
  enum { TEXT = 1, REST = 16 };
  // A call that returns again (setjmp) has no key: what it stored was told when it returned first. With REST
  // it is a name and a result that are told of.
  if (!call || how & REST) return;
  if (how & TEXT && p) {
    u64 n = 0;
    while (n < len && p[n]) n++;
    if (n < len) len = n + 1;
  }
  if (len == UINT64_MAX) fail("a store of unknown length");
  if (p) raddle_sym_forget(p, len);
}
u32 raddle_sym_binary(u32 code, u32 a, u32 b, u64 av, u64 bv) {
  u32 op = code & 255, width = code >> 8;
  if (width > 64 && (!a || !b)) fail("a wide operand without an expression");
  if (!a && !b) fail("nothing symbolic in %u", op);
  if (op < ADD || op > SLE) fail("operation %u", op);
  a = operand("left", a, width, width > 64 ? nodes[a].value : av);
  b = operand("right", b, width, width > 64 ? nodes[b].value : bv);
  return add_node(op, op >= EQ ? 1 : width, 0, a, b, 0, 0);
}
static u128 whole(u64 low, u64 high) { return (u128)high << 64 | low; }
u32 raddle_sym_wide(u32 width, u32 expr, u64 low, u64 high) {
  if (width <= 64 || width > 128) fail("%u bits are not wide", width);
  return operand("wide", expr, width, whole(low, high));
}
u32 raddle_sym_cast(u32 code, u32 a) {
  u32 op = code & 255, from = code >> 8 & 255, to = code >> 16;
  if (!a) fail("nothing symbolic in a cast");
  operand("cast", a, from, nodes[a].value);
  if (op == EXTRACT ? to >= from : to <= from) fail("cast %u from %u to %u", op, from, to);
  return add_node(op, to, 0, a, 0, 0, 0);
}
u32 raddle_sym_ite(u32 code, u32 condition, u64 exprs, u64 av, u64 bv) {
  u32 width = code & 255, held = code >> 8;
  operand("condition", condition, 1, held);
  if (width > 64) {
    u32 yes = (u32)exprs, no = exprs >> 32;
    if (!yes || !no) fail("a wide choice without an expression");
    return add_node(ITE, width, 0, condition, yes, no, 0);
  }
  u32 a = operand("then", (u32)exprs, width, av), b = operand("else", exprs >> 32, width, bv);
  return add_node(ITE, width, 0, condition, a, b, 0);
}
void raddle_sym_branch(u32 expr, u64 value, u32 why) {
  if (!expr || why > 12) fail("decision on %u, why %u", expr, why);
  decision(expr, value);
}
void raddle_sym_lost(u32 why) {
  if (why > 12) fail("lost, why %u", why);
  losses++;
  if (dump) fprintf(dump, "l %u\n", why);
}

void raddle_sym_number(u32 expr, u64 value, u32 width) {
  if (!expr || nodes[expr].width != width) fail("a number of %u bits, expression %u", width, expr);
  if (nodes[expr].value != value) fail("a number that is not %" PRIx64, value);
  raddle_sym_lost(6);
}

void raddle_sym_bounds(void *base, u64 size, void *at, u64 len, u64 exprs) {
  u32 at_expr = (u32)exprs, len_expr = (u32)(exprs >> 32);
  if (!exprs) fail("bounds of a concrete access at %p", at);
  if (at_expr) operand("address", at_expr, 64, (u64)at);
  if (len_expr) operand("length", len_expr, 64, len);
  u64 offset = (u64)at - (u64)base;
  if (size && (offset > size || len > size - offset)) fail("%p is outside of %p", at, base);
}

// The function itself, on decided arguments; what it reads and writes is not followed.
u64 raddle_sym_library(u64 (*real)(u64, u64, u64, u64, u64), u32 code, u64 *values, u32 *exprs) {
  u64 v[5] = {0};
  u32 count = code >> 16;
  if (count > 5) fail("%u arguments for a model", count);
  for (u32 i = 0; i < count; i++) {
    v[i] = values[i];
    if (exprs && exprs[i]) decision(exprs[i], v[i]);
  }
  raddle_sym_lost(3);
  raddle_sym_callee = 0;
  u64 result = real(v[0], v[1], v[2], v[3], v[4]);
  raddle_sym_result = 0;
  return result;
}
void raddle_sym_foreign(void *callee, const char *name, u64 shape, u64 *values, u32 *exprs) {
  u32 count = shape >> 32 & 0xff;
  if (!callee || count > 64 || (name && !*name)) fail("a call of %p", callee);
  for (u32 i = 0; exprs && i < count; i++)
    if (exprs[i]) operand("output", exprs[i], nodes[exprs[i]].width, values[i]);
}

void test_output(u64 value);

void raddle_sym_call(void *callee, u32 index, u32 expr, u64 value) {
  u64 prefix = 0;
  if (!expr || expr >= node_count) fail("argument %u has expression %u", index, expr);
  operand("argument", expr, nodes[expr].width, value);
  if (index < 64) memcpy(&prefix, (u8 *)callee - 8, 8);
  if (!memcmp(&prefix, "RaddleFn", 8) || callee == (void *)test_output) {
    raddle_sym_args[index] = expr;
    return;
  }
  decision(expr, value);
  if (index < 64) raddle_sym_args[index] = 0;
}

void raddle_sym_call_wide(void *callee, u32 index, u32 expr, u64 low, u64 high) {
  u64 prefix = 0;
  operand("wide argument", expr, nodes[expr].width, whole(low, high));
  if (nodes[expr].width <= 64) fail("%u bits are not wide", nodes[expr].width);
  if (index < 64) memcpy(&prefix, (u8 *)callee - 8, 8);
  int takes = !memcmp(&prefix, "RaddleFn", 8);
  if (!takes) {
    decision(fresh_part(expr, 0, 64), low);
    decision(fresh_part(expr, 64, nodes[expr].width - 64), high);
  }
  if (index < 64) raddle_sym_args[index] = takes ? expr : 0;
}

// What programs call.
void raddle_symbolic(u8 *p, u64 len, const char *name) {
  const char *text = getenv("TEST_INPUT");
  static u64 offset;
  (void)name;
  for (u64 i = 0; i < len; i++, offset++) {
    unsigned byte = 0;
    if (text && strlen(text) >= 2 * offset + 2) sscanf(text + 2 * offset, "%2x", &byte);
    p[i] = (u8)byte;
    if (raddle_mode & 2) put(p + i, 1, add_node(INPUT, 8, 0, (u32)offset, 0, 0, byte));
  }
}

void test_output(u64 value) {
  u32 expr = raddle_sym_callee == (uintptr_t)test_output ? raddle_sym_args[0] : 0;
  raddle_sym_callee = 0;
  if (expr) operand("output", expr, 64, value);
  if (dump) fprintf(dump, "o %u %" PRIu64 "\n", expr, value);
  printf("%" PRIu64 "\n", value);
}

__attribute__((constructor)) static void start(void) {
  const char *mode = getenv("TEST_MODE"), *file = getenv("TEST_DUMP");
  if (file && !(dump = fopen(file, "w"))) fail("cannot write %s", file);
  raddle_mode = mode ? (u32)atoi(mode) & 3 : 0;
  refuses = mode && atoi(mode) & 4;
}

__attribute__((destructor)) static void end(void) {
  all_met();
  if (dump) {
    fprintf(dump, "e %" PRIu64 " %" PRIu64 " %" PRIu64 " %u\n", plain, losses, as_compiled, questions);
    fclose(dump);
  }
}
