//! getopt and its kin: random arguments and options, the same results in the same order.

use super::super::options::{Form, Request, next};
use super::{Bench, input_byte};
use crate::rng::Rng;
use crate::shadow::nodes::Expr;
use crate::shadow::tests::evaluate;
use core::ffi::c_int;
use std::ffi::CStr;

unsafe extern "C" {
    static mut optarg: u64;
    static mut optind: c_int;
    static mut opterr: c_int;
    static mut optopt: c_int;
    fn getopt(count: c_int, arguments: u64, letters: u64) -> c_int;
    fn __posix_getopt(count: c_int, arguments: u64, letters: u64) -> c_int;
    fn getopt_long(count: c_int, arguments: u64, letters: u64, names: u64, index: u64) -> c_int;
    fn getopt_long_only(
        count: c_int,
        arguments: u64,
        letters: u64,
        names: u64,
        index: u64,
    ) -> c_int;
}

const COUNT: usize = 5;
const LEN: usize = 7;

/// `struct option`
#[repr(C)]
struct Named {
    name: *const i8,
    has_argument: c_int,
    flag: u64,
    value: c_int,
}

/// A call that leaves '!' behind as the last letter, which the functions remember for ever.
fn before() -> (Request, [u64; 3]) {
    let arguments = [c"".as_ptr() as u64, c"-!".as_ptr() as u64, 0];
    let request = Request {
        form: Form::Short,
        count: 2,
        arguments: 0,
        letters: c"".as_ptr() as u64,
        names: 0,
        index: 0,
    };
    (request, arguments)
}

/// What the functions read and write.
#[repr(C)]
struct Arena {
    texts: [[u8; LEN]; COUNT],
    arguments: [u64; COUNT + 1],
    names: [Named; 7],
    index: c_int,
    flag: c_int,
}

const LETTERS: [&CStr; 9] = [
    c"ab:f", c"+ab::", c"-a:b", c":ab:o::", c"W;a:", c":W;f", c"-:b:W;", c"f", c"",
];

fn named(name: &'static CStr, has_argument: c_int, flag: u64, value: c_int) -> Named {
    Named {
        name: name.as_ptr(),
        has_argument,
        flag,
        value,
    }
}

fn fill(arena: &mut Arena, input: &[u8]) {
    for (text, bytes) in arena.texts.iter_mut().zip(input.chunks(LEN)) {
        text.copy_from_slice(bytes);
    }
    for (argument, text) in arena.arguments.iter_mut().zip(&arena.texts) {
        *argument = text.as_ptr() as u64;
    }
    arena.arguments[COUNT] = 0;
    let flag = &raw const arena.flag as u64;
    arena.names = [
        named(c"ab", 0, 0, 7),
        named(c"abf", 1, 0, 8),
        named(c"fo", 2, flag, 9),
        named(c"foo", 2, flag, 9),
        named(c"foob", 0, 0, 10),
        named(c"b", 1, flag, 11),
        named(c"", 0, 0, 0),
    ];
    arena.names[6].name = core::ptr::null();
    (arena.index, arena.flag) = (-5, -6);
    // SAFETY: variables of the C library, which nobody else uses here; 0 begins anew.
    unsafe { (optind, optarg, optopt, opterr) = (0, 0, 0, 0) };
}

/// Numbers after a call with their expressions: the result, `optopt`, `optind`, the index and the
/// flag; and `optarg`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Step {
    numbers: [(c_int, Expr); 5],
    found: u64,
}

fn step(result: (c_int, Expr), arena: &Arena, shadow: impl Fn(u64) -> Expr) -> Step {
    let number = |at: *const c_int| {
        // SAFETY: a variable.
        (unsafe { *at }, shadow(at as u64))
    };
    // SAFETY: a variable of the C library.
    let found = unsafe { optarg };
    let numbers = [
        result,
        number(&raw const optopt),
        number(&raw const optind),
        number(&arena.index),
        number(&arena.flag),
    ];
    Step { numbers, found }
}

fn request(arena: &Arena, form: Form, letters: &CStr) -> Request {
    Request {
        form,
        count: COUNT as i32,
        arguments: arena.arguments.as_ptr() as u64,
        letters: letters.as_ptr() as u64,
        names: match form {
            Form::Short | Form::Posix => 0,
            Form::Long | Form::LongOnly => arena.names.as_ptr() as u64,
        },
        index: &raw const arena.index as u64,
    }
}

/// Two calls after the end show that it stays the end.
const CALLS: usize = LEN * COUNT + 2;

/// All results, and the order of the arguments in the end.
type Seen = (Vec<Step>, [u64; COUNT + 1]);

fn run_real(arena: &mut Arena, form: Form, letters: &CStr, input: &[u8]) -> Seen {
    fill(arena, input);
    let (first, list) = before();
    // SAFETY: an array as the function wants it.
    unsafe { getopt(first.count, list.as_ptr() as u64, first.letters) };
    fill(arena, input);
    let Request {
        count,
        arguments,
        letters,
        names,
        index,
        ..
    } = request(arena, form, letters);
    let call = || {
        // SAFETY: arrays as the functions want them.
        unsafe {
            match form {
                Form::Short => getopt(count, arguments, letters),
                Form::Posix => __posix_getopt(count, arguments, letters),
                Form::Long => getopt_long(count, arguments, letters, names, index),
                Form::LongOnly => getopt_long_only(count, arguments, letters, names, index),
            }
        }
    };
    let steps = (0..CALLS).map(|_| {
        let result = call();
        step((result, 0), arena, |_| 0)
    });
    (steps.collect(), arena.arguments)
}

#[test]
fn options_are_those_of_the_c_library() {
    const LIKELY: &[u8] = b"\0\0-----abfoW=:;";
    let mut rng = Rng::new(23);
    let mut input = || -> Vec<u8> {
        let mut bytes: Vec<u8> = (0..LEN * COUNT)
            .map(|at| match (at % LEN, rng.below(40)) {
                (_, 0) => rng.below(256) as u8,
                (0, 1..20) => b'-',
                _ => LIKELY[rng.below(LIKELY.len())],
            })
            .collect();
        for text in bytes.chunks_mut(LEN) {
            let start: &[u8] = match rng.below(10) {
                0 => b"--abf",
                1 => b"--fo",
                2 => b"-W",
                3 => b"--\0",
                _ => b"",
            };
            text[..start.len()].copy_from_slice(start);
            text[LEN - 1] = 0;
        }
        bytes
    };
    // SAFETY: numbers and addresses, all of which may be 0.
    let mut arena = Box::new(unsafe { core::mem::zeroed::<Arena>() });
    let mut choice = Rng::new(24);
    let (mut predictions, mut returned) = (0, std::collections::BTreeSet::new());
    for _ in 0..4000 {
        let form = [Form::Short, Form::Posix, Form::Long, Form::LongOnly][choice.below(4)];
        let letters = LETTERS[choice.below(LETTERS.len())];
        let first = input();
        let really = run_real(&mut arena, form, letters, &first);
        fill(&mut arena, &first);
        let mut bench = Bench::new();
        let (before, list) = before();
        let arguments = list.as_ptr() as u64;
        next(
            &mut bench,
            Request {
                arguments,
                ..before
            },
        );
        fill(&mut arena, &first);
        for i in 0..LEN * COUNT {
            let expr = input_byte(&mut bench, i, 8);
            let at = arena.texts.as_ptr() as u64 + i as u64;
            bench.shadow.insert(at, expr);
        }
        let mut steps = Vec::new();
        for _ in 0..CALLS {
            let result = next(&mut bench, request(&arena, form, letters));
            let result = (result.value as i32, result.expr);
            steps.push(step(result, &arena, |at| bench.shadow(at)));
            returned.insert(result.0);
        }
        let own = (steps, arena.arguments);
        let is_as = |other: &Seen, means: &dyn Fn(Expr, usize, c_int) -> c_int| {
            let same = own.0.iter().zip(&other.0).all(|(own, other)| {
                let numbers = own.numbers.iter().zip(&other.numbers).enumerate();
                let mut numbers =
                    numbers.map(|(i, (own, other))| (means(own.1, i, own.0), other.0));
                numbers.all(|(own, other)| own == other) && own.found == other.found
            });
            same && own.1 == other.1
        };
        let shown = |input: &[u8]| {
            format!(
                "{form:?} {letters:?} {:?}",
                input.escape_ascii().to_string()
            )
        };
        assert!(
            is_as(&really, &|_, _, value| value),
            "{}: {own:x?} instead of {really:x?}",
            shown(&first)
        );
        for _ in 0..30 {
            let mut other = first.clone();
            for _ in 0..1 + choice.below(3) {
                let at = choice.below(LEN * COUNT);
                if at % LEN != LEN - 1 {
                    other[at] = input()[at];
                }
            }
            let values: Vec<u64> = other.iter().map(|&b| u64::from(b)).collect();
            let is = |expr: Expr| evaluate(&bench.nodes, expr, &values);
            if other == first || bench.decisions.iter().any(|&(e, value)| is(e) != value) {
                continue;
            }
            predictions += 1;
            let really = run_real(&mut arena, form, letters, &other);
            // In memory an expression is that of the lowest byte.
            let means = |expr: Expr, index: usize, value: c_int| match (expr, index) {
                (0, _) => value,
                (_, 0) => is(expr) as i32,
                _ => i32::from(is(expr) as i8),
            };
            assert!(
                is_as(&really, &means),
                "{} and {}",
                shown(&first),
                shown(&other)
            );
        }
    }
    assert!(predictions > 5000, "only {predictions} predictions");
    for result in [-1, 0, 1, 7, 8, 10, b'?' as i32, b':' as i32, b'a' as i32] {
        assert!(returned.contains(&result), "{result} was never returned");
    }
}
