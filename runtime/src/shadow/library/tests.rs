//! Models against the C library on random inputs: the result and what is written must be the
//! same, and wherever the decisions fall as they did, the expressions must say what the C library
//! does on another input.

mod options;
mod streams;

use super::fortified::Plain;
use super::machine::{Machine, Val};
use super::{Call, characters};
use crate::rng::Rng;
use crate::shadow::nodes::{Expr, Nodes};
use crate::shadow::tests::{evaluate, nodes};
use raddle_protocol::expr::{Node, Op, Why};
use raddle_protocol::library::Model;
use std::collections::HashMap;
use std::ffi::{CStr, CString};

/// Memory of the test's own with a shadow of it.
struct Bench {
    nodes: Nodes,
    shadow: HashMap<u64, Expr>,
    decisions: Vec<(Expr, u64)>,
    errno: i32,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            nodes: nodes(1 << 13),
            shadow: HashMap::new(),
            decisions: Vec::new(),
            errno: 0,
        }
    }

    /// The expression, also of a constant.
    fn full(&mut self, value: Val) -> Expr {
        match value.expr {
            0 => self.nodes.constant(value.width, value.value),
            expr => expr,
        }
    }

    fn shadow(&self, at: u64) -> Expr {
        self.shadow.get(&at).copied().unwrap_or(0)
    }
}

impl Machine for Bench {
    fn nodes(&mut self) -> &mut Nodes {
        &mut self.nodes
    }
    fn read(&mut self, at: u64) -> Val {
        // SAFETY: the tests give addresses of their own arrays.
        let value = unsafe { *(at as *const u8) };
        let expr = self.shadow(at);
        Val {
            expr,
            ..Val::byte(value)
        }
    }
    fn write(&mut self, at: u64, byte: Val) {
        // SAFETY: as above.
        unsafe { *(at as *mut u8) = byte.value as u8 };
        self.shadow.insert(at, byte.expr);
    }
    fn write_value(&mut self, at: u64, value: Val) {
        for i in 0..u64::from(value.width / 8) {
            let shifted = self.with(Op::LShr, value, 8 * i);
            let byte = self.low(shifted, 8);
            self.write(at + i, byte);
        }
    }
    fn write_word(&mut self, at: u64, value: u64) {
        self.write_value(at, Val::word(value));
    }
    fn read_value(&mut self, at: u64, width: u8) -> Val {
        let mut whole = self.read(at);
        for i in 1..u64::from(width / 8) {
            let byte = self.read(at + i);
            let expr = match byte.expr | whole.expr {
                0 => 0,
                _ => {
                    let high = self.full(byte);
                    let low = self.full(whole);
                    self.nodes.concat(high, low)
                }
            };
            let value = whole.value | byte.value << (8 * i);
            whole = Val {
                expr,
                ..Val::of(whole.width + 8, value)
            };
        }
        whole
    }
    fn copy(&mut self, to: u64, from: u64, len: u64) {
        let bytes: Vec<Val> = (0..len).map(|i| self.read(from + i)).collect();
        for (i, byte) in (0..).zip(bytes) {
            self.write(to + i, byte);
        }
    }
    fn fill(&mut self, to: u64, byte: Val, len: u64) {
        (0..len).for_each(|i| self.write(to + i, byte));
    }
    fn decide(&mut self, on: Val, _: Why) {
        if on.expr != 0 && self.nodes.constant_of(on.expr).is_none() {
            self.decisions.push((on.expr, on.value));
        }
    }
    fn compare(&mut self, _: u64, a: u64, b: u64) -> Val {
        let (a, b) = (self.read(a), self.read(b));
        let (a, b) = (self.extend(Op::SExt, a, 32), self.extend(Op::SExt, b, 32));
        self.binary(Op::Sub, a, b)
    }
    fn duplicate(&mut self, from: u64, len: u64) -> u64 {
        // SAFETY: freed by the caller.
        let to = unsafe { libc::malloc(len as usize + 1) } as u64;
        self.copy(to, from, len);
        self.write(to + len, Val::byte(0));
        to
    }
    fn borrow(&mut self, len: u64) -> u64 {
        vec![0u8; len as usize].leak().as_mut_ptr() as u64
    }
    fn give_back(&mut self, _: u64, _: u64) {}
    fn fail(&mut self, error: i32) {
        self.errno = error;
    }
    fn complain(&mut self, _: &[u8]) {}
}

const LEN: usize = 10;

/// Three texts, a scalar and a place for an address.
#[derive(Clone, Copy)]
#[repr(C, align(8))]
struct Arena {
    texts: [[u8; LEN]; 2],
    target: [u8; 3 * LEN],
    word: u64,
}

/// What can be an argument.
#[derive(Clone, Copy, Debug)]
enum Arg {
    Text(usize),
    Target,
    Word,
    /// A character of the input.
    Char,
    Number(u64),
    Format(&'static CStr),
    /// A place in the target.
    Place(u64),
    /// The function that orders signed bytes.
    Order,
}

extern "C" fn order(a: *const i8, b: *const i8) -> i32 {
    // SAFETY: bsearch and qsort give addresses of elements.
    unsafe { i32::from(*a) - i32::from(*b) }
}

/// Bytes that are likely to matter, the last of each text 0.
fn input(rng: &mut Rng) -> Vec<u8> {
    const LIKELY: &[u8] = b"\0\0 -+0x1789aZfF:ab\t\x80\xff";
    let mut bytes: Vec<u8> = (0..2 * LEN + 2)
        .map(|_| match rng.below(8) {
            0 => rng.below(256) as u8,
            _ => LIKELY[rng.below(LIKELY.len())],
        })
        .collect();
    bytes[LEN - 1] = 0;
    bytes[2 * LEN - 1] = 0;
    bytes
}

fn arena(input: &[u8]) -> Box<Arena> {
    let text = |i: usize| input[i * LEN..(i + 1) * LEN].try_into().unwrap();
    let mut arena = Box::new(Arena {
        texts: [text(0), text(1)],
        target: [b'.'; 3 * LEN],
        word: 0,
    });
    arena.target[0] = b'q';
    arena.target[2] = 0;
    arena.word = &raw const arena.texts[0] as u64;
    arena
}

fn value(arena: &mut Arena, arg: Arg, input: &[u8]) -> u64 {
    match arg {
        Arg::Text(i) => &raw mut arena.texts[i] as u64,
        Arg::Target => &raw mut arena.target as u64,
        Arg::Word => &raw mut arena.word as u64,
        Arg::Char => u64::from(i32::from(input[2 * LEN] as i8) as u32),
        Arg::Number(n) => n,
        Arg::Format(format) => format.as_ptr() as u64,
        Arg::Place(offset) => &raw mut arena.target as u64 + offset,
        Arg::Order => order as *const () as u64,
    }
}

/// What can be seen of a call: its result and the arena, with addresses told from the arena's.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Seen {
    result: u64,
    bytes: Vec<u8>,
    word: u64,
}

fn relative(address: u64, arena: &Arena) -> u64 {
    let from = address.wrapping_sub(arena as *const Arena as u64);
    if from <= size_of::<Arena>() as u64 {
        from
    } else {
        address
    }
}

fn is_comparison(model: Model) -> bool {
    use Model::*;
    matches!(model, Memcmp | Strcmp | Strncmp | Strcasecmp | Strncasecmp)
}

/// The result as it counts: a sign, a truth, an address in the arena, the text of a new block.
fn result(model: Model, raw: u64, arena: &Arena) -> u64 {
    match model {
        model if is_comparison(model) => (raw as i32).signum() as u64,
        Model::Character | Model::Atoi | Model::Sscanf | Model::SwapFour => u64::from(raw as u32),
        Model::SwapTwo => u64::from(raw as u16),
        Model::Qsort | Model::Bzero => 0,
        Model::Strdup | Model::Strndup => 0,
        _ => relative(raw, arena),
    }
}

fn seen(model: Model, raw: u64, arena: &Arena) -> Seen {
    let mut bytes = [&arena.texts[0][..], &arena.texts[1], &arena.target].concat();
    if matches!(model, Model::Strdup | Model::Strndup) {
        // SAFETY: a text that malloc gave.
        let copy = unsafe { std::ffi::CStr::from_ptr(raw as *const _) };
        bytes.extend(copy.to_bytes_with_nul());
    }
    Seen {
        result: result(model, raw, arena),
        bytes,
        word: relative(arena.word, arena),
    }
}

/// The C library's function.
fn real(name: &str) -> u64 {
    let name = CString::new(name).unwrap();
    // SAFETY: a plain look-up.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    found as u64
}

fn run_real(model: Model, function: u64, args: &[Arg], input: &[u8]) -> Seen {
    type Function = unsafe extern "C" fn(u64, u64, u64, u64, u64) -> u64;
    let mut arena = arena(input);
    let mut values = [0; 5];
    for (to, &arg) in values.iter_mut().zip(args) {
        *to = value(&mut arena, arg, input);
    }
    let [a, b, c, d, e] = values;
    // SAFETY: integers and addresses travel in registers; more of them than a function takes do
    // no harm.
    let raw = unsafe {
        let function: Function = core::mem::transmute(function as usize);
        function(a, b, c, d, e)
    };
    let seen = seen(model, raw, &arena);
    if matches!(model, Model::Strdup | Model::Strndup) {
        // SAFETY: a block of malloc's.
        unsafe { libc::free(raw as *mut _) };
    }
    seen
}

/// The expression of a byte of the input.
fn input_byte(bench: &mut Bench, index: usize, width: u8) -> Expr {
    bench.nodes.add(Node {
        op: Op::Input as u8,
        width,
        a: index as u32,
        c: 1,
        ..Node::default()
    })
}

/// Runs the model on an input, and compares its predictions for others with the C library.
/// Returns how many predictions there were.
fn check(model: Model, name: &str, args: &[Arg], inputs: &[Vec<u8>]) -> usize {
    let function = real(name);
    assert_ne!(function, 0, "{name} is not in the C library");
    let input = &inputs[0];
    let mut arena = arena(input);
    let mut bench = Bench::new();
    // A text that is searched for stays concrete in every second call, so that paths are short.
    let symbolic = 2 * LEN - if input[2 * LEN + 1] & 1 != 0 { LEN } else { 0 };
    let start = &raw mut arena.texts as u64;
    for i in 0..symbolic {
        let expr = input_byte(&mut bench, i, 8);
        bench.shadow.insert(start + i as u64, expr);
    }
    let values: Vec<u64> = args
        .iter()
        .map(|&arg| value(&mut arena, arg, input))
        .collect();
    let exprs: Vec<u32> = args
        .iter()
        .map(|arg| match arg {
            Arg::Char => {
                let narrow = input_byte(&mut bench, 2 * LEN, 8);
                let width = if model == Model::SwapTwo { 16 } else { 32 };
                bench.nodes.extend(Op::SExt, narrow, width)
            }
            _ => 0,
        })
        .collect();
    let call = Call {
        m: &mut bench,
        model,
        values: &values,
        exprs: &exprs,
        real: function,
    };
    let mut plain = Plain::default();
    let Ok(call) = call.unfortified(&mut plain) else {
        panic!("{name} {args:?} has room enough");
    };
    let found = call.perform();
    let own = seen(model, found.value, &arena);
    assert_eq!(
        own,
        run_real(model, function, args, input),
        "{name} {args:?} {input:x?}"
    );
    let mut predictions = 0;
    for other in &inputs[1..] {
        let means: Vec<u64> = other.iter().map(|&b| u64::from(b)).collect();
        if other[symbolic..2 * LEN] != input[symbolic..2 * LEN] {
            continue;
        }
        let is = |expr: Expr| evaluate(&bench.nodes, expr, &means);
        if bench
            .decisions
            .iter()
            .any(|&(expr, value)| is(expr) != value)
        {
            continue;
        }
        predictions += 1;
        let mut predicted = own.clone();
        if found.expr != 0 {
            predicted.result = result(model, is(found.expr), &arena);
        }
        let target = &raw const arena.target as u64;
        let places = (start..start + 2 * LEN as u64).chain(target..target + 3 * LEN as u64);
        let copied = found.value..found.value + (own.bytes.len() - 5 * LEN) as u64;
        let copied = copied.filter(|_| own.bytes.len() > 5 * LEN);
        for (byte, at) in predicted.bytes.iter_mut().zip(places.chain(copied)) {
            match bench.shadow(at) {
                0 => {}
                expr => *byte = is(expr) as u8,
            }
        }
        let really = run_real(model, function, args, other);
        assert_eq!(
            predicted, really,
            "{name} {args:?} {input:x?} and {other:x?}"
        );
    }
    if matches!(model, Model::Strdup | Model::Strndup) {
        // SAFETY: a block of malloc's.
        unsafe { libc::free(found.value as *mut _) };
    }
    predictions
}

/// Each with three places at most, of eight bytes.
const FORMATS: &[&CStr] = &[
    c"%d",
    c"%i %n",
    c"%x:%o%n",
    c"%3d%2x%c",
    c" %hhu -%hd",
    c"%*d%ld",
    c"%u%% %s",
    c"%3s%n%li",
    c"%2c:%i",
    c"%1i%hhn%X",
    c"a%d",
    c"%4i%n",
    c"-%zu",
    c"%[0-9a]%n%d",
    c" %2[^x-z7]%n%c",
    c"%*[]-: ]%x",
    c"%[-+]%[--9]%n",
];

/// Arguments of a call.
fn arguments(model: Model, rng: &mut Rng) -> Vec<Arg> {
    use Arg::*;
    use Model::*;
    let number = |n: usize| Number(n as u64);
    let size = number(rng.below(LEN));
    let room = number(3 * LEN);
    match model {
        Memcmp => vec![Text(0), Text(1), size],
        Memchr | Memrchr => vec![Text(0), Char, size],
        // The character is in the block.
        Rawmemchr => vec![Text(0), Number(0)],
        Mempcpy => vec![Target, Text(0), size],
        Bzero => vec![Text(0), size],
        Strlen | Strdup | Atoi | Atol => vec![Text(0)],
        Strnlen | Strndup => vec![Text(0), size],
        Strcmp | Strcasecmp | Strstr | Strcasestr | Strspn | Strcspn | Strpbrk => {
            vec![Text(0), Text(1)]
        }
        Strncmp | Strncasecmp => vec![Text(0), Text(1), size],
        Strcpy | Stpcpy | Strcat => vec![Target, Text(0)],
        StrcpyChk | StpcpyChk | StrcatChk => vec![Target, Text(0), room],
        StrncpyChk | StpncpyChk | StrncatChk | MempcpyChk => {
            vec![Target, Text(0), size, room]
        }
        Strncpy | Stpncpy | Strncat => vec![Target, Text(0), size],
        Memmem => vec![Text(0), size, Text(1), number(rng.below(3))],
        Memccpy => vec![Target, Text(0), Char, size],
        Strchr | Strrchr | Strchrnul => vec![Text(0), Char],
        Strtok => vec![Text(0), Text(1)],
        Sscanf => {
            let format = FORMATS[rng.below(FORMATS.len())];
            let places = [0, 8, 16].map(Place);
            [&[Text(0), Format(format)][..], &places].concat()
        }
        StrtokR => vec![[Text(0), Number(0)][rng.below(2)], Text(1), Word],
        Strsep => vec![Word, Text(1)],
        Character | SwapFour | SwapTwo => vec![Char],
        Strtol | Strtoul => {
            let base = [0, 2, 8, 10, 16, 36, 1, 37][rng.below(8)];
            vec![Text(0), [Word, Number(0)][rng.below(2)], Number(base)]
        }
        Qsort => vec![Text(0), number(rng.below(5)), number(1), Order],
        // Sorted for the inputs of the test.
        Getc | Getchar | Fgets | Fread | Read | Getline | Getdelim | Fopen | Open | Ungetc
        | Scanf | Fscanf | FgetsChk | FreadChk | ReadChk => {
            unreachable!("they read the outside")
        }
        Getopt | PosixGetopt | GetoptLong | GetoptLongOnly => unreachable!("tested in options"),
        Bsearch => vec![Text(1), Text(0), number(1 + rng.below(3)), number(1), Order],
    }
}

/// Inputs near the first one, so that decisions fall as they did.
fn inputs(model: Model, rng: &mut Rng) -> Vec<Vec<u8>> {
    let first = input(rng);
    let mut all: Vec<Vec<u8>> = vec![first.clone()];
    for _ in 0..40 {
        let mut other = first.clone();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(2 * LEN + 1);
            if at % LEN != LEN - 1 || at == 2 * LEN {
                other[at] = input(rng)[at];
            }
        }
        all.push(other);
    }
    if model == Model::Bsearch {
        for one in &mut all {
            one[..4].sort_by_key(|&byte| byte as i8);
        }
    }
    all
}

#[test]
fn models_are_the_functions_of_the_c_library() {
    let all = Model::ALL.iter().copied();
    for model in all.filter(|&model| {
        let plain = super::fortified::plain(model).map_or(model, |(plain, _)| plain);
        !super::streams::is_ours(plain) && super::options::form(model).is_none()
    }) {
        let here = |name: &&&str| !name.starts_with("__isoc23");
        for name in model.names().iter().filter(here) {
            let mut rng = Rng::new(7 + model as u64);
            let mut predictions = 0;
            for _ in 0..60 {
                let args = arguments(model, &mut rng);
                let inputs = inputs(model, &mut rng);
                predictions += check(model, name, &args, &inputs);
            }
            assert!(predictions > 50, "{name}: only {predictions} predictions");
        }
    }
}

/// Numbers at the bounds of their types, which random texts do not reach.
#[test]
fn numbers_too_great_are_cut() {
    unsafe extern "C" {
        fn strtol(text: *const i8, end: *mut *mut i8, base: i32) -> i64;
        fn strtoul(text: *const i8, end: *mut *mut i8, base: i32) -> u64;
    }
    let texts = [
        "9223372036854775807",
        "9223372036854775808",
        "-9223372036854775808",
        "-9223372036854775809",
        "18446744073709551615",
        "18446744073709551616",
        "-18446744073709551615",
        "99999999999999999999999",
        " +7fffffffffffffff",
        "-8000000000000000z",
        "0x",
        "0xg",
        "-0x",
        "077",
        "08",
        "",
        "-",
        " ",
        "00x1",
    ];
    for text in texts {
        for base in [0, 8, 10, 16, 36] {
            for signed in [true, false] {
                let bytes = CString::new(text).unwrap();
                let mut bench = Bench::new();
                let at = bytes.as_ptr() as u64;
                for i in 0..text.len() as u64 {
                    let expr = bench.nodes.add(Node {
                        op: Op::Input as u8,
                        width: 8,
                        a: i as u32,
                        c: 1,
                        ..Node::default()
                    });
                    bench.shadow.insert(at + i, expr);
                }
                let reading = super::numbers::Reading { base, signed };
                let (found, end) = super::numbers::read(&mut bench, at, reading).unwrap();
                let mut real_end = core::ptr::null_mut();
                // SAFETY: a text; errno is the thread's own.
                let (real, errno) = unsafe {
                    *libc::__errno_location() = 0;
                    let real = match signed {
                        true => strtol(bytes.as_ptr(), &mut real_end, base as i32) as u64,
                        false => strtoul(bytes.as_ptr(), &mut real_end, base as i32),
                    };
                    (real, *libc::__errno_location())
                };
                let what = format!("{text:?} in base {base}, signed: {signed}");
                assert_eq!((found.value, end), (real, real_end as u64), "{what}");
                assert_eq!(bench.errno, errno, "{what}");
                let means: Vec<u64> = text.bytes().map(u64::from).collect();
                if found.expr != 0 {
                    assert_eq!(evaluate(&bench.nodes, found.expr, &means), real, "{what}");
                }
            }
        }
    }
}

/// Every entry of the tables of characters, by an index that is an input.
#[test]
fn tables_of_characters_are_read_by_expressions() {
    unsafe extern "C" {
        fn __ctype_b_loc() -> *const *const u16;
        fn __ctype_tolower_loc() -> *const *const i32;
        fn __ctype_toupper_loc() -> *const *const i32;
    }
    // SAFETY: tables of the C library, for -128 to 255.
    unsafe {
        let classes = *__ctype_b_loc();
        one_table(classes as u64, 2, |c| u64::from(*classes.offset(c)));
        for map in [*__ctype_tolower_loc(), *__ctype_toupper_loc()] {
            one_table(map as u64, 4, |c| u64::from(*map.offset(c) as u32));
        }
    }
}

fn one_table(zero: u64, size: u64, held: impl Fn(isize) -> u64) {
    let mut bench = Bench::new();
    let index = bench.nodes.add(Node {
        op: Op::Input as u8,
        width: 64,
        c: 8,
        ..Node::default()
    });
    let table = characters::table_at(zero + 65 * size, size as u32).expect("a table");
    let index = Val {
        expr: index,
        ..Val::word(65)
    };
    let offset = bench.with(Op::Mul, index, size);
    let address = bench.with(Op::Add, offset, zero);
    let found = characters::entry(&mut bench, address, table);
    assert_eq!(found.value, held(65));
    for c in -128..256isize {
        let means = [c as u64];
        assert_eq!(evaluate(&bench.nodes, found.expr, &means), held(c), "{c}");
        for &(expr, value) in &bench.decisions {
            assert_eq!(evaluate(&bench.nodes, expr, &means), value, "{c}");
        }
    }
    for c in [-129i64, 256] {
        let outside = bench
            .decisions
            .iter()
            .any(|&(expr, value)| evaluate(&bench.nodes, expr, &[c as u64]) != value);
        assert!(outside, "{c}");
    }
    assert!(characters::table_at(zero + 65 * size + 1, size as u32).is_none());
}
