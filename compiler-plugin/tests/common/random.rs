//! Random C programs without undefined behaviour (given `-fwrapv`), all integers.

use std::fmt::Write;

/// A small generator of random numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 11) % bound
    }

    pub fn byte(&mut self) -> u8 {
        self.below(256) as u8
    }

    pub fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len() as u64) as usize]
    }
}

const TYPES: [&str; 10] = [
    "u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "u128", "i128",
];

const HEAD: &str = r#"#include <stdint.h>
#include <string.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdatomic.h>
#include "test.h"
typedef uint8_t u8; typedef int8_t i8; typedef uint16_t u16; typedef int16_t i16;
typedef uint32_t u32; typedef int32_t i32; typedef uint64_t u64; typedef int64_t i64;
typedef unsigned __int128 u128; typedef __int128 i128;
typedef u32 x4 __attribute__((vector_size(16))); typedef i16 x8 __attribute__((vector_size(16)));
typedef u8 x16 __attribute__((vector_size(16))); typedef u64 x2 __attribute__((vector_size(16)));
#define NOINLINE __attribute__((noinline))
struct pair { i32 a; u64 b; };
struct small { i16 a; i8 b; u8 c; };
struct big { u32 a; i64 b[4]; i8 c; };
static u32 table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
static const i32 fixed[8] = {2, 7, 1, 8, 2, 8, 1, 8};
u64 global = 5; i32 counter; static bool flag; _Atomic u32 atom; static _Atomic i64 wide;
static struct big shared; _Thread_local u16 local;
static u128 broad = 7; static x4 lanes = {1, 2, 3, 4};
static NOINLINE x4 turned(x4 x, u32 by, x16 y) {
  x4 z = __builtin_shufflevector(x, lanes, 1, 6, 3, 0); z[by & 3] ^= by;
  return z + (x4)y * x; }
static NOINLINE u64 overflows(i128 x, i128 y) {
  i128 z; return __builtin_mul_overflow(x, y, &z) ? 77 : (u64)(z >> 60); }
static NOINLINE u64 overflows_unsigned(u128 x, u128 y) {
  u128 z; return __builtin_mul_overflow(x, y, &z) ? 77 : (u64)(z >> 60); }
static NOINLINE double dbl(u64 x) { double y; memcpy(&y, &x, 8); return y; }
static NOINLINE float flt(u32 x) { float y; memcpy(&y, &x, 4); return y; }
static NOINLINE u64 bits(double x) { u64 y; memcpy(&y, &x, 8); return y; }
static NOINLINE u32 bits32(float x) { u32 y; memcpy(&y, &x, 4); return y; }
/* Numbers between 2 to the -3 and 2 to the 12, and those about the ends of what `float` can be. */
static NOINLINE double some(u64 x) {
  return dbl((x & 0x800fffffffffffff) | (0x3fc + (x >> 56 & 15)) << 52); }
static NOINLINE double end(u64 x) {
  return dbl((x & 0x800fffffffffffff) | ((x & 1 ? 0x366 : 0x478) + (x >> 56 & 31)) << 52); }
static NOINLINE i128 twice(i128 x, u64 y) { return x < 0 ? x - y : x * 3 + y; }
"#;

/// A variadic function and one with computed jumps, which have no symbolic body.
fn one_body(number: usize, a: &str, b: &str) -> String {
    format!(
        "static NOINLINE u64 v{number}(u32 p, u64 q, struct pair r, struct big s, u32 *t, ...) {{\n\
         va_list list; va_start(list, t); u64 x = va_arg(list, u64); struct big y = s;\n\
         memcpy(&y.b[1], &x, 8); y.b[2] = table[y.b[0] & 15]; va_end(list);\n\
         table[x & 15] ^= 5; global += y.a; return (u64)({a}) + (u64)y.b[1] + (u64)y.b[2]; }}\n\
         static NOINLINE u64 w{number}(u32 p, u64 q, struct pair r, struct big s, u32 *t) {{\n\
         static void *places[] = {{&&one, &&two, &&three}}; u64 x = (u64)({b}); u8 z[8];\n\
         memcpy(z, &shared.b[2], 8); memset(&shared.b[1], z[3], 4); goto *places[x % 3];\n\
         one: x += z[1]; atomic_fetch_add(&atom, (u32)x);\n\
         two: x += atomic_load(&atom); local = z[2];\n\
         three: return x ^ (u64)wide; }}\n"
    )
}

struct Program<'a> {
    random: &'a mut Random,
    text: String,
    /// Names that can be read as numbers here.
    names: Vec<String>,
    /// Names of local variables that can be written.
    locals: Vec<String>,
    /// How many functions can be called.
    functions: usize,
    fresh: usize,
}

/// A program that reads 32 symbolic bytes and gives several outputs.
pub fn program(random: &mut Random) -> String {
    let mut program = Program {
        random,
        text: HEAD.to_owned(),
        names: Vec::new(),
        locals: Vec::new(),
        functions: 0,
        fresh: 0,
    };
    for _ in 0..4 {
        program.function();
    }
    program.main();
    program.text
}

impl Program<'_> {
    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn function(&mut self) {
        let number = self.functions;
        let inline = self.random.pick(&["NOINLINE", "static NOINLINE", "static"]);
        let result = self.random.pick(&TYPES);
        let (x, y) = (self.random.pick(&TYPES), self.random.pick(&TYPES));
        self.line(&format!(
            "{inline} {result} f{number}({x} p, {y} q, struct pair r, struct big s, u32 *t) {{"
        ));
        self.names = ["p", "q", "r.a", "r.b", "s.a", "s.b[1]", "s.c", "*t"]
            .map(str::to_owned)
            .to_vec();
        self.locals = ["p", "q", "r.b", "s.b[2]", "*t"]
            .map(str::to_owned)
            .to_vec();
        self.block(4, 2);
        let value = self.expression(3);
        self.line(&format!("return {value};\n}}"));
        // A structure in two registers, one in one, one in memory.
        let (a, b, c) = (self.expression(2), self.expression(2), self.expression(1));
        self.line(&format!(
            "static NOINLINE struct pair g{number}(u32 p, u64 q, struct pair r, struct big s, u32 *t) \
             {{ struct pair z = {{{a}, {b}}}; return z; }}\n\
             static NOINLINE struct small h{number}(i32 p, i16 q, struct pair r, struct big s, u32 *t) \
             {{ struct small z = {{{c}, {b}, {a}}}; return z; }}\n\
             static NOINLINE struct big k{number}(i8 p, u64 q, struct pair r, struct big s, u32 *t) \
             {{ s.b[0] = {a}; s.c = {b}; return s; }}"
        ));
        self.text.push_str(&one_body(number, &a, &b));
        self.functions += 1;
    }

    fn main(&mut self) {
        self.line(
            "int main(void) {\nunion { u8 b[32]; u16 h[16]; u32 w[8]; u64 d[4]; } in;\n\
             raddle_symbolic(&in, sizeof in, \"in\");\n\
             u32 x = in.w[0]; i64 y = (i64)in.d[1]; i8 z = (i8)in.b[16]; u16 v = in.h[9];\n\
             i32 w = (i32)in.w[5]; u64 a[4]; memcpy(a, in.d, sizeof a);\n\
             struct pair r = {w, in.d[3]}; struct big s; memset(&s, in.b[24], sizeof s); u32 m = 9;\n\
             u32 *t = &m; shared = s; local = v;",
        );
        self.names = [
            "x", "y", "z", "v", "w", "a[1]", "a[2]", "r.a", "r.b", "s.a", "s.b[3]", "m",
        ]
        .map(str::to_owned)
        .to_vec();
        self.locals = ["x", "y", "z", "v", "w", "a[0]", "r.a", "s.b[1]", "m", "*t"]
            .map(str::to_owned)
            .to_vec();
        self.block(10, 3);
        for name in [
            "x",
            "y",
            "z",
            "v",
            "w",
            "a[0]",
            "r.a",
            "s.b[1]",
            "m",
            "global",
            "counter",
            "flag",
            "atom",
            "wide",
            "shared.b[2]",
            "local",
            "table[3]",
            "broad",
            "(broad >> 64)",
            "lanes[2]",
        ] {
            self.line(&format!("test_output((u64){name});"));
        }
        for _ in 0..6 {
            let value = self.expression(3);
            self.line(&format!("test_output((u64)({value}));"));
        }
        self.line("return 0;\n}");
    }

    fn block(&mut self, statements: u64, depth: u32) {
        let (names, locals) = (self.names.clone(), self.locals.clone());
        for _ in 0..=self.random.below(statements) {
            self.statement(depth);
        }
        (self.names, self.locals) = (names, locals);
    }

    fn target(&mut self) -> String {
        const GLOBALS: [&str; 6] = [
            "global",
            "counter",
            "flag",
            "shared.a",
            "shared.b[2]",
            "local",
        ];
        match self.random.below(8) {
            0 | 1 => self.random.pick(&GLOBALS).to_owned(),
            2 => {
                let index = self.expression(1);
                format!("table[({index}) & 15]")
            }
            _ => {
                let at = self.random.below(self.locals.len() as u64) as usize;
                self.locals[at].clone()
            }
        }
    }

    fn statement(&mut self, depth: u32) {
        let value = self.expression(3);
        let target = self.target();
        match self.random.below(if depth == 0 { 8 } else { 14 }) {
            0 | 1 => {
                let ty = self.random.pick(&TYPES);
                let name = format!("n{}", self.fresh);
                self.fresh += 1;
                self.line(&format!("{ty} {name} = ({ty})({value});"));
                self.names.push(name.clone());
                self.locals.push(name);
            }
            2 | 3 => self.line(&format!("{target} = {value};")),
            4 => {
                let op = self.random.pick(&["+=", "-=", "*=", "^=", "|=", "&="]);
                self.line(&format!("{target} {op} {value};"));
            }
            5 => {
                let call = self.random.pick(&[
                    "atomic_fetch_add(&atom, (u32)(V))",
                    "atomic_fetch_sub(&wide, (i64)(V))",
                    "atomic_exchange(&atom, (u32)(V))",
                    "atomic_fetch_xor(&wide, (i64)(V))",
                    "(atomic_store(&atom, (u32)(V)), atomic_load(&atom))",
                    "__atomic_fetch_min((i64 *)&wide, (i64)(V), 5)",
                    "__atomic_fetch_nand((u32 *)&atom, (u32)(V), 2)",
                ]);
                let call = call.replace('V', &value);
                self.line(&format!("{target} = {call};"));
            }
            6 => {
                let other = self.expression(1);
                self.line(&format!(
                    "{{ u32 e = (u32)({value}); flag = atomic_compare_exchange_strong(&atom, &e, \
                     (u32)({other})); {target} = e; }}"
                ));
            }
            7 => {
                let lines = [
                    "{ u8 b[24]; memcpy(b, &shared, 24); b[3] ^= (u8)(V); memmove(b + 1, b, 20); \
                     memcpy(&shared, b, 24); }",
                    "{ struct big c = shared; c.b[1] = (i64)(V); shared = c; }",
                    "{ struct pair e = r; e.a = (i32)(V); r = e; }",
                    "{ u64 e[2] = {r.b, V}; u16 o; memcpy(&o, (u8 *)e + 3, 2); r.b += o; }",
                    "{ __asm__(\"\" : \"+r\"(V0)); }",
                    "{ broad = broad * 5 + (u128)(V); r.b ^= (u64)(broad >> 61); }",
                    "{ u128 e; memcpy(&e, shared.b, 16); e += (u128)(i64)(V) << 60; \
                     memcpy(shared.b, &e, 16); }",
                    "{ x8 e; memcpy(&e, shared.b, 16); e = e * 3 - (i16)(V); x8 o = e > 7; \
                     e = (e & o) | (-e & ~o); memcpy(shared.b, &e, 16); }",
                    "{ lanes ^= turned(lanes, (u32)(V), (x16)(x2){r.b, V}); lanes = lanes >> 3; }",
                    "{ x16 e = (x16)(x2){V, r.b}; r.b = (u64)__builtin_reduce_add((x4)e) ^ \
                     (u64)__builtin_reduce_xor((x2)~e) + __builtin_reduce_max(e); }",
                    "{ x16 e = (x16)(x2){V, r.b}; e = (x16)(e < 9); u16 o = 0; \
                     for (int k = 0; k < 16; k++) o |= (u16)((e[k] & 1) << k); r.b += o; }",
                    "{ x4 e = __builtin_elementwise_max(lanes, (x4){V, 1, 2, 3}); lanes = e % 77 + \
                     __builtin_convertvector(__builtin_shufflevector((x8)e, (x8)e, 0, 2, 4, 6), x4); }",
                ];
                let at = self.random.below(lines.len() as u64) as usize;
                let line = lines[at].replace("V0", "r.b").replace('V', &value);
                self.line(&line);
            }
            8 | 9 => {
                self.line(&format!("if ({value}) {{"));
                self.block(2, depth - 1);
                self.line("} else {");
                self.block(2, depth - 1);
                self.line("}");
            }
            10 => {
                let bound = self.random.below(4) + 1;
                let name = format!("j{}", self.fresh);
                self.fresh += 1;
                self.line(&format!(
                    "for (u32 {name} = 0; {name} < {bound}; {name}++) {{"
                ));
                self.names.push(name.clone());
                self.block(2, depth - 1);
                self.names.retain(|one| *one != name);
                self.line("}");
            }
            11 => {
                self.line(&format!(
                    "for (int k = 0; k < 3 && (({value}) & (1 << k)); k++) {{"
                ));
                self.block(2, depth - 1);
                self.line("}");
            }
            _ => {
                let bits = self.random.pick(&["& 3", "% 7", "& 0x80000001u"]);
                self.line(&format!("switch ((u32)({value}) {bits}) {{"));
                for case in [
                    "case 0:",
                    "case 2: case 5:",
                    "case 0x80000000u:",
                    "default:",
                ] {
                    self.line(case);
                    self.block(1, depth - 1);
                    if self.random.below(3) > 0 {
                        self.line("break;");
                    } else {
                        self.line(";");
                    }
                }
                self.line("}");
            }
        }
    }

    fn name(&mut self) -> String {
        let at = self.random.below(self.names.len() as u64) as usize;
        self.names[at].clone()
    }

    fn expression(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.random.below(6) {
                0 => format!("{}", self.random.below(300)),
                1 => format!("{}u", self.random.next() as u32),
                2 => self
                    .random
                    .pick(&["global", "counter", "table[5]", "local", "shared.c"])
                    .into(),
                _ => self.name(),
            };
        }
        let a = self.expression(depth - 1);
        let other = self.random.below(u64::from(depth)) as u32;
        let b = self.expression(other);
        let mut text = String::new();
        let ty = self.random.pick(&TYPES);
        let done = match self.random.below(22) {
            0..=5 => {
                let op = self.random.pick(&["+", "-", "*", "&", "|", "^"]);
                write!(text, "({a} {op} {b})")
            }
            6 | 7 => {
                let op = self
                    .random
                    .pick(&["<", "<=", ">", ">=", "==", "!=", "&&", "||"]);
                write!(text, "({a} {op} {b})")
            }
            8 => write!(text, "((u32)({a}) << (({b}) & 31))"),
            9 => write!(
                text,
                "(({ty})({a}) >> (({b}) & (8 * sizeof({ty}) - 1) & 31))"
            ),
            10 => write!(text, "((u64)({a}) / ((u64)({b}) | 1))"),
            11 => write!(text, "((i32)({a}) % (((i32)({b}) & 63) + 1))"),
            12 => write!(text, "((i64)({a}) / (((i64)({b}) & 0xfff) + 1))"),
            13 => write!(text, "({ty})({a})"),
            14 => write!(text, "(({a}) ? {b} : {})", self.name()),
            15 => write!(text, "table[({a}) & 15]"),
            16 => write!(text, "fixed[({a}) & 7]"),
            17 => {
                let call = self.random.pick(&[
                    "__builtin_bswap32((u32)(A))",
                    "__builtin_bswap64((u64)(A))",
                    "__builtin_popcount((u32)(A))",
                    "__builtin_clz((u32)(A) | 1)",
                    "__builtin_ctzll((u64)(A) | 0x100000000)",
                    "((u32)(A) << ((B) & 31) | (u32)(A) >> (-(u32)(B) & 31))",
                    "__builtin_abs((i32)(A) | 1)",
                    "__builtin_rotateright16((u16)(A), (u16)(B))",
                    "__builtin_bitreverse32((u32)(A))",
                    "__builtin_bitreverse8((u8)(A))",
                    "__builtin_elementwise_add_sat((i16)(A), (i16)(B))",
                    "__builtin_elementwise_sub_sat((i64)(A), (i64)(B))",
                    "__builtin_elementwise_add_sat((u32)(A), (u32)(B))",
                    "(u64)((u128)(A) * (u128)(B) >> 64)",
                    "overflows((i128)(A) << 50, (i128)(i32)(B) << 22)",
                    "overflows((i128)(A) << 60, (i128)(i8)(B) << 3)",
                    "overflows_unsigned((u128)(A) << 50, (u128)(u32)(B) << 22)",
                    "overflows_unsigned((u128)(A) << 3, (u128)(B) << 60)",
                    "(u64)((u128)(A) << ((B) & 127) >> 70)",
                    "((i128)(A) >> ((B) & 127))",
                    "((u128)(i128)(A) / ((u128)(u32)(B) | 1))",
                    "((i128)(A) % ((i128)(i32)(B) * 77 | 1))",
                    "twice((i128)(A) << 40, (u64)(B))",
                    "(u64)(((u128)(i128)(A) ^ broad) * 3 >> 50)",
                    "bits((double)(i64)(A))",
                    "bits((double)((u64)(A) >> ((B) & 63)))",
                    "bits((double)(i32)(A))",
                    "bits32((float)(u64)(A))",
                    "bits32((float)((i64)(A) >> ((B) & 63)))",
                    "bits32((float)(i16)(A))",
                    "bits(flt((u32)(A)))",
                    "bits(flt((u32)(A) & 0x80ffffff))",
                    "bits(flt((u32)(A) | 0x7f800000))",
                    "bits32((float)end((u64)(A)))",
                    "bits32((float)dbl((u64)(A) | 0x7ff0000000000000))",
                    "bits32((float)some((u64)(A)))",
                    "(i32)some((u64)(A))",
                    "(i64)(float)some((u64)(A))",
                    "(u16)__builtin_fabs(some((u64)(A)))",
                    "(dbl((u64)(A)) < dbl((u64)(B)))",
                    "(flt((u32)(A) & 0x80000001) == flt((u32)(B) & 0x80000001))",
                    "(some((u64)(A)) <= (double)(i32)(B))",
                    "(flt((u32)(A)) != flt((u32)(A)))",
                    "__builtin_islessgreater(flt((u32)(A) | 0x7f000000), flt((u32)(B)))",
                    "bits(__builtin_copysign(dbl((u64)(A)), -dbl((u64)(B))))",
                    "(__builtin_isnormal(flt((u32)(A) & 0xffffff)) + \
                     2 * !!__builtin_isinf(flt((u32)(B) | 0x7f800000)) + \
                     4 * __builtin_isnan(dbl((u64)(A) << 40 | 0x7ff0000000000000)))",
                ]);
                write!(text, "{}", call.replace('A', &a).replace('B', &b))
            }
            18 => {
                let (ty, call) = match self.random.below(8) {
                    0 => ("i32", "__builtin_sadd_overflow((i32)(A), (i32)(B), &o)"),
                    1 => ("u64", "__builtin_uaddl_overflow((u64)(A), (u64)(B), &o)"),
                    2 => ("i64", "__builtin_ssubl_overflow((i64)(A), (i64)(B), &o)"),
                    3 => ("i32", "__builtin_smul_overflow((i32)(A), (i32)(B), &o)"),
                    4 => ("u32", "__builtin_umul_overflow((u32)(A), (u32)(B), &o)"),
                    5 => ("i64", "__builtin_smull_overflow((i64)(A), (i64)(B), &o)"),
                    6 => ("u64", "__builtin_umull_overflow((u64)(A), (u64)(B), &o)"),
                    _ => ("u32", "__builtin_usub_overflow((u32)(A), (u32)(B), &o)"),
                };
                let call = call.replace('A', &a).replace('B', &b);
                write!(text, "({{ {ty} o; u64 c = {call}; (u64)o ^ c << 40; }})")
            }
            19 | 20 if self.functions > 0 => {
                let number = self.random.below(self.functions as u64);
                let (call, part) = match self.random.below(9) {
                    4 if self.random.below(3) == 0 => ("v", ""),
                    5 if self.random.below(3) == 0 => ("w", ""),
                    0 => ("g", ".a"),
                    1 => ("g", ".b"),
                    2 => ("h", ".b"),
                    3 => ("k", ".b[0]"),
                    _ => ("f", ""),
                };
                let more = if call == "v" {
                    format!(", (u64)({a})")
                } else {
                    String::new()
                };
                write!(
                    text,
                    "({{ u32 o = (u32)({b}); {call}{number}({a}, {b}, r, s, &o{more}){part} + o; }})"
                )
            }
            21 => write!(
                text,
                "({{ i64 lo = (i64)({a}), hi = (i64)({b}); lo < hi ? lo : hi; }})"
            ),
            _ => write!(text, "(~{a} + !{b})"),
        };
        done.expect("text can be extended");
        text
    }
}
