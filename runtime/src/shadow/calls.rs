//! Expressions across calls: see [`raddle_protocol::hooks`].

use super::nodes::Expr;
use super::{branch, world};
use crate::serial::Serial;
use crate::{os, vars};
use core::ffi::CStr;
use raddle_protocol::expr::Why;
use raddle_protocol::hooks::{ARGS_LEN, PREFIX, SIGNATURE};

/// A function of the runtime that takes expressions of arguments, or gives one of its result.
struct Modelled {
    name: &'static CStr,
    /// Its address as the program sees it.
    address: usize,
    /// Bit `i`: takes the expression of argument `i`.
    takes: u32,
}

const fn row(name: &'static CStr, takes: u32) -> Modelled {
    Modelled {
        name,
        address: 0,
        takes,
    }
}

static MODELLED: Serial<[Modelled; 49]> = Serial::new([
    row(c"pthread_create", 1 << 3),
    row(c"thrd_create", 1 << 2),
    row(c"exit", 1),
    row(c"_exit", 1),
    row(c"_Exit", 1),
    row(c"quick_exit", 1),
    row(c"raddle_assume", 1),
    row(c"klee_assume", 1),
    row(c"__VERIFIER_assume", 1),
    row(c"__VERIFIER_nondet_int", 0),
    row(c"__VERIFIER_nondet_uint", 0),
    row(c"__VERIFIER_nondet_long", 0),
    row(c"__VERIFIER_nondet_ulong", 0),
    row(c"__VERIFIER_nondet_short", 0),
    row(c"__VERIFIER_nondet_ushort", 0),
    row(c"__VERIFIER_nondet_char", 0),
    row(c"__VERIFIER_nondet_uchar", 0),
    row(c"__VERIFIER_nondet_bool", 0),
    row(c"__VERIFIER_nondet_longlong", 0),
    row(c"__VERIFIER_nondet_ulonglong", 0),
    row(c"__VERIFIER_nondet_size_t", 0),
    row(c"__VERIFIER_nondet_loff_t", 0),
    row(c"__VERIFIER_nondet_sector_t", 0),
    row(c"__VERIFIER_nondet_unsigned", 0),
    row(c"__VERIFIER_nondet_u32", 0),
    row(c"__VERIFIER_nondet_u16", 0),
    row(c"__VERIFIER_nondet_u8", 0),
    row(c"__VERIFIER_nondet_unsigned_char", 0),
    row(c"__VERIFIER_nondet_unsigned_int", 0),
    row(c"__VERIFIER_nondet_u64", 0),
    row(c"__VERIFIER_nondet_pthread_t", 0),
    row(c"__VERIFIER_nondet_pointer", 0),
    row(c"__VERIFIER_nondet_pchar", 0),
    row(c"__VERIFIER_nondet_float", 0),
    row(c"__VERIFIER_nondet_double", 0),
    row(c"__VERIFIER_nondet_int128", 0),
    row(c"__VERIFIER_nondet_uint128", 0),
    row(c"klee_int", 0),
    row(c"klee_range", 0),
    row(c"klee_choose", 1),
    row(c"klee_is_symbolic", 1),
    row(c"klee_silent_exit", 1),
    row(c"klee_prefer_cex", 1 << 1),
    row(c"klee_posix_prefer_cex", 1 << 1),
    row(c"klee_set_forking", 1),
    row(c"klee_print_range", 1 << 1),
    row(c"__cxa_guard_acquire", 0),
    row(c"__cxa_guard_release", 0),
    row(c"__cxa_guard_abort", 0),
]);

fn modelled() -> &'static mut [Modelled] {
    // SAFETY: written once, before the program's first code.
    unsafe { MODELLED.get() }
}

/// Finds the functions. Called once, before the program's first code.
pub fn find() {
    for row in modelled() {
        // SAFETY: a plain look-up; it yields what the program's own references resolve to.
        row.address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, row.name.as_ptr()) } as usize;
    }
}

fn address(name: &CStr) -> usize {
    let row = modelled().iter().find(|row| row.name == name);
    row.map_or(0, |row| row.address)
}

/// The expression of argument `index` of the call of the runtime's function `name` that is under
/// way (0: concrete).
pub fn argument(name: &CStr, index: usize) -> Expr {
    if !vars::symbolic() {
        return 0;
    }
    vars::argument(address(name), index)
}

/// Is the call of the runtime's function `name` that is under way by code that is followed?
pub fn is_followed(name: &CStr) -> bool {
    vars::symbolic() && vars::call().0 == address(name)
}

/// The runtime's function `name` returns `value`, which has this expression.
pub fn give_result(name: &CStr, expr: Expr, value: u64, pc: usize) {
    if !vars::give_result(address(name), expr) {
        branch(expr, value, Why::Call, pc);
    }
}

/// As [`give_result`], of a result in two registers.
pub fn give_results(name: &CStr, exprs: [Expr; 2], values: [u64; 2], pc: usize) {
    if vars::give_result(address(name), exprs[0]) {
        vars::set_argument(1, exprs[1]);
    } else {
        let both = exprs.into_iter().zip(values);
        both.for_each(|(expr, value)| branch(expr, value, Why::Call, pc));
    }
}

/// The result of the call of `callee` that has just returned leaves what is followed.
pub fn concretise_result(callee: usize, value: u64, pc: usize) {
    let expr = vars::result_of(callee);
    if expr != 0 {
        branch(expr, value, Why::Call, pc);
    }
}

/// Passes the expression of an argument to `callee`, or decides on its value if `callee` cannot
/// take it.
pub fn pass(callee: usize, index: u32, expr: Expr, value: u64, pc: usize) {
    let index = index as usize;
    let mut passed = 0;
    if expr != 0 {
        if index < ARGS_LEN && takes(callee, index) {
            passed = expr;
        } else {
            branch(expr, value, Why::Call, pc);
        }
    }
    vars::set_argument(index, passed);
}

/// The same for an argument of more than 64 bits, given as two halves, the low one first.
pub fn pass_wide(callee: usize, index: u32, expr: Expr, value: [u64; 2], pc: usize) {
    if (index as usize) < ARGS_LEN && takes(callee, index as usize) {
        return pass(callee, index, expr, value[0], pc);
    }
    let nodes = &mut world().nodes;
    let rest = nodes.get(expr).width.saturating_sub(64).max(1);
    let halves = [nodes.extract(expr, 0, 64), nodes.extract(expr, 64, rest)];
    for (half, value) in halves.into_iter().zip(value) {
        branch(half, value, Why::Call, pc);
    }
    vars::set_argument(index as usize, 0);
}

fn takes(callee: usize, index: usize) -> bool {
    match modelled().iter().find(|row| row.address == callee) {
        Some(row) => index < 32 && row.takes >> index & 1 != 0,
        None => has_symbolic_body(callee),
    }
}

/// Do the eight bytes before the entry say so, or before what clang puts there?
pub fn has_symbolic_body(callee: usize) -> bool {
    let is_signed = |word: u64| word as u32 == SIGNATURE;
    match word_before(callee, 1) {
        Some(PREFIX) => true,
        found => found.is_some_and(is_signed) && word_before(callee, 2) == Some(PREFIX),
    }
}

/// The `n`-th word before the entry of a function that is about to be called.
fn word_before(entry: usize, n: usize) -> Option<u64> {
    const PAGE: usize = 4096;
    let at = entry.wrapping_sub(n * size_of::<u64>());
    let same_page = at & !(PAGE - 1) == entry & !(PAGE - 1);
    if entry < PAGE || !(same_page || is_mapped(at & !(PAGE - 1))) {
        return None;
    }
    // SAFETY: in the page of the entry, which is mapped because it is about to be called, or, from
    // its beginning on, in the one before it, which was just found to be mapped.
    Some(unsafe { (at as *const u64).read_unaligned() })
}

pub fn is_mapped(page: usize) -> bool {
    let mut resident = 0u8;
    let out = &raw mut resident as usize;
    // SAFETY: writes one byte for one page, or fails.
    unsafe { os::syscall(libc::SYS_mincore, page, 1, out, 0, 0, 0) == 0 }
}
