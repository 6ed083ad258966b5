//! Random C programs of loops over arrays, some bytes of which are symbolic. No undefined behaviour,
//! given `-fwrapv`.

use crate::random::Random;

/// An array: its name, the type of its elements, and how many there are, a power of two.
#[derive(Clone, Copy)]
struct Array(&'static str, &'static str, i64);

const ARRAYS: [Array; 9] = [
    Array("ga", "u8", 256),
    Array("gb", "i32", 128),
    Array("gc", "u16", 64),
    Array("gd", "u64", 64),
    Array("gm[1]", "u32", 32),
    Array("la", "i8", 128),
    Array("lb", "i64", 32),
    Array("h", "i32", 256),
    Array("p", "u16", 128),
];

const HEAD: &str = r#"#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "test.h"
typedef uint8_t u8; typedef int8_t i8; typedef uint16_t u16; typedef int16_t i16;
typedef uint32_t u32; typedef int32_t i32; typedef uint64_t u64; typedef int64_t i64;
#define NOINLINE __attribute__((noinline))
u8 ga[256]; static i32 gb[128]; u16 gc[64]; static u64 gd[64]; u32 gm[4][32];
static const u16 fixed[64] = {7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5};
static NOINLINE u64 sum(const void *at, u64 len) {
  const u8 *p = at; u64 s = len;
  for (u64 i = 0; i < len; i++) s = s * 31 + p[i];
  return s; }
static NOINLINE i32 opaque(i32 n) { __asm__("" : "+r"(n)); return n; }
"#;

/// A program that reads 32 symbolic bytes and gives several outputs.
pub fn program(random: &mut Random) -> String {
    let mut text = HEAD.to_owned();
    for number in 0..3 {
        text += &format!(
            "static NOINLINE u64 f{number}(i32 *h, u16 *p, const u8 *in, u32 n, i64 m, u64 s) {{\n\
             i8 la[128]; i64 lb[32]; memset(la, 3, sizeof la); memset(lb, 5, sizeof lb);\n"
        );
        for _ in 0..=1 + random.below(4) {
            let Array(name, ty, len) = array(random);
            let (at, from) = (random.below(len as u64), random.below(32));
            match random.below(6) {
                0 | 1 => text += &format!("{name}[{at}] = ({ty})in[{from}];\n"),
                2 => {
                    text += &format!(
                        "memcpy(&{name}[{at} / 2], in, {len} / 2 < 32 ? {len} / 2 : 32);\n"
                    )
                }
                _ => {}
            }
            text += &match random.below(5) {
                0 => walk(random),
                _ => nest(random),
            };
            if random.below(6) == 0 {
                let Array(name, ..) = array(random);
                text += &format!("s += {name}[s & 15];\n");
            }
        }
        text += "s += sum(la, sizeof la) + sum(lb, sizeof lb);\nreturn s;\n}\n";
    }
    text += "int main(void) {\nu8 in[32]; raddle_symbolic(in, sizeof in, \"in\");\n\
             i32 *h = calloc(256, 4); u16 *p = calloc(128, 2); u64 s = 1;\n\
             u32 n = (u32)opaque(5); i64 m = opaque(-3);\n";
    for number in 0..3 {
        text += &format!(
            "s = f{number}(h, p, in, n, m, s); test_output(s);\n\
             if (in[{number}] & 1) memset(h, {number}, 1024);\n\
             s = f{number}(h, p, in, n + {number}, m, s & 255); test_output(s);\n"
        );
    }
    for (name, bytes) in [
        ("ga", 256),
        ("gb", 512),
        ("gc", 128),
        ("gd", 512),
        ("gm", 512),
        ("h", 1024),
        ("p", 256),
    ] {
        text += &format!("test_output(sum({name}, {bytes}));\n");
    }
    text + "free(h); free(p); return 0;\n}\n"
}

fn array(random: &mut Random) -> Array {
    ARRAYS[random.below(ARRAYS.len() as u64) as usize]
}

/// Loops in each other.
fn nest(random: &mut Random) -> String {
    let depth = 1 + random.below(3) as usize;
    let mut text = String::new();
    let mut counts = Vec::new();
    for level in 0..depth {
        let most = [12, 7, 4][depth - 1];
        let rounds = 1 + random.below(most) as i64;
        counts.push(rounds);
        text += &header(random, level, rounds);
        if random.below(4) == 0 {
            text += &statement(random, &counts);
        }
    }
    for _ in 0..=random.below(3) {
        text += &statement(random, &counts);
    }
    for level in (0..depth).rev() {
        if random.below(4) == 0 {
            text += &statement(random, &counts[..=level]);
        }
        text += "}\n";
    }
    text
}

/// Loops one after the other, within another one or not, in which one pointer goes on.
fn walk(random: &mut Random) -> String {
    let Array(name, ty, len) = array(random);
    let around = random.below(2) as i64;
    let rounds = 1 + random.below(len as u64 / 4) as i64;
    let mut text = format!("{{ {ty} *w = ({ty} *)&{name}[0];\n");
    if around > 0 {
        text += "for (i32 r = 0; r < 2; r++) {\n";
    }
    for part in 0..2 {
        let body = random.pick(&["s += *w;", "*w ^= 5;", "if (s & 8) *w += 3;", "s ^= 77;"]);
        text +=
            &format!("for (i32 i{part} = 0; i{part} < {rounds}; i{part}++) {{ {body} w++; }}\n");
    }
    text += "s += (u64)(w - 1)[0];\n";
    if around > 0 {
        text += "w -= 1; }\n";
    }
    text + "}\n"
}

/// A loop whose variable `v` ends between 0 and `rounds - 1`, mostly that often.
fn header(random: &mut Random, level: usize, rounds: i64) -> String {
    let v = ["i", "j", "k"][level];
    let ty = random.pick(&["i32", "u32", "u64", "i64", "u16", "i8"]);
    let step = 1 + random.below(3) as i64;
    // Bounds that the compiler does not know, and symbolic ones.
    let end = match random.below(8) {
        0 if rounds > 7 => "(i64)n".to_owned(),
        1 if rounds > 7 => "(i64)(in[9] & 7)".to_owned(),
        2 if level > 0 => format!(
            "(i64)({} < {rounds} ? {0} : {rounds})",
            ["i", "j"][level - 1]
        ),
        3 => format!("({rounds} + opaque(0))"),
        _ => rounds.to_string(),
    };
    match random.below(8) {
        7 => {
            // Not a constant.
            let by = match level {
                0 => format!("({ty})(n & 3 | 1)"),
                _ => format!("(({ty}){} + 1)", ["i", "j"][level - 1]),
            };
            format!("for ({ty} {v} = 0; {v} < {rounds}; {v} += {by}) {{\n")
        }
        0 => format!("for ({ty} {v} = ({ty})({rounds} - 1); {v} > 0; {v}--) {{\n"),
        1 => format!("for (i64 {v} = {rounds} - 1; {v} >= 0; {v} -= {step}) {{\n"),
        2 => format!(
            "for (i64 {v}x = -1; ++{v}x < {end} && s != 12345;) {{ {ty} {v} = ({ty}){v}x;\n"
        ),
        3 => format!("for (i64 {v} = 0; {v} != {rounds}; ++{v}) {{\n"),
        _ => format!("for ({ty} {v} = 0; (i64){v} < {end}; {v} += {step}) {{\n"),
    }
}

fn statement(random: &mut Random, counts: &[i64]) -> String {
    let (a, b) = (element(random, counts), element(random, counts));
    let v = ["i", "j", "k"][random.below(counts.len() as u64) as usize];
    let op = random.pick(&["+=", "^=", "-=", "*=", "="]);
    match random.below(11) {
        0 => format!("s += (u64){a};\n"),
        9 => format!("s += *(u8 *)({b} & 2 ? (void *)&{a} : (void *)&{b});\n"),
        10 => format!("(*(u8 *)({v} & 2 ? (void *)&{a} : (void *)&{b})) {op} {v};\n"),
        1 => format!("s = (s ^ (u64){a}) * 31 + (u64){b};\n"),
        2 => format!("if ({a} & 4) {b} {op} 3;\n"),
        3 => format!("if ({v} & 1) {a} {op} {b};\n"),
        4 => format!("{a} = {b};\n"),
        5 => format!("s ^= {a} > {b} ? (u64){a} : (u64){v};\n"),
        6 => format!("{a} {op} (i32)s + {v};\n"),
        7 => format!("{a} {op} fixed[{}];\n", masked(random, 64)),
        _ => format!("{a} {op} {b} + {v};\n"),
    }
}

fn masked(random: &mut Random, len: i64) -> String {
    let of = random.pick(&["s", "(s >> 7)", "in[3]", "i * 77", "i + s", "(s ^ i)"]);
    format!("({of}) & {}", len - 1)
}

/// An element of an array, by the variables of the loops around.
fn element(random: &mut Random, counts: &[i64]) -> String {
    let Array(name, _, len) = array(random);
    if random.below(4) == 0 {
        return format!("{name}[{}]", masked(random, len));
    }
    let mut index = String::new();
    let (mut least, mut most) = (0, 0);
    for (level, rounds) in counts.iter().enumerate() {
        let v = ["i", "j", "k"][level];
        let reach = |factor: i64| factor * (rounds - 1);
        let factor = match random.below(8) {
            0 => 0,
            1 => -1,
            2 => 2,
            3 => 8,
            4 => -3,
            5 if level == 0 => 16,
            _ => 1,
        };
        let way = reach(factor);
        if most - least + way.abs() >= len || factor == 0 {
            continue;
        }
        index += &format!(" + {factor} * (i64){v}");
        (least, most) = (least + way.min(0), most + way.max(0));
    }
    let spare = len - 1 - (most - least);
    let from = random.below(spare as u64 + 1) as i64 - least;
    format!("{name}[{from}{index}]")
}
