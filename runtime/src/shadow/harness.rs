//! What a program calls itself: inputs, assumptions, errors. Names of raddle, KLEE and SV-COMP.

use super::access::Access;
use super::calls::{argument, give_result, give_results};
use super::inputs::Input;
use super::nodes::Expr;
use super::simplify::Operand;
use super::{built, world};
use crate::access::check;
use crate::gate::{self, Fatal};
use crate::{ends, os, vars};
use core::ffi::{CStr, c_char, c_void};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::Op;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;

type Address = *mut c_void;
type Name = *const c_char;

crate::export! {
    /// As SV-COMP defined it before `reach_error`. Not in the table: programs may have their own.
    fn __VERIFIER_error() = error_from;
    /// As most of SV-COMP's programs define it, for those that only declare it.
    fn __VERIFIER_assert(condition: u32) = assert_from;
    /// Not in the table, which has no such types, as those that follow.
    fn __VERIFIER_nondet_float() -> f32 = nondet_float;
    fn __VERIFIER_nondet_double() -> f64 = nondet_double;
    fn __VERIFIER_nondet_int128() -> Wide = nondet_int128;
    fn __VERIFIER_nondet_uint128() -> Wide = nondet_uint128;
}

/// A number of 128 bits, as functions return it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Wide {
    low: u64,
    high: u64,
}

crate::hooks! { ROWS:
    fn raddle_symbolic(at: Address, len: u64, name: Name) = make_symbolic;
    fn klee_make_symbolic(at: Address, len: u64, name: Name) = make_symbolic;
    fn raddle_assume(condition: u32) = raddle_assume_from;
    fn klee_assume(condition: u64) = klee_assume_from;
    fn __VERIFIER_assume(condition: u32) = verifier_assume_from;
    fn __VERIFIER_nondet_int() -> u32 = nondet_int;
    fn __VERIFIER_nondet_uint() -> u32 = nondet_uint;
    fn __VERIFIER_nondet_long() -> u64 = nondet_long;
    fn __VERIFIER_nondet_ulong() -> u64 = nondet_ulong;
    fn __VERIFIER_nondet_short() -> u16 = nondet_short;
    fn __VERIFIER_nondet_ushort() -> u16 = nondet_ushort;
    fn __VERIFIER_nondet_char() -> u8 = nondet_char;
    fn __VERIFIER_nondet_uchar() -> u8 = nondet_uchar;
    fn __VERIFIER_nondet_bool() -> u8 = nondet_bool;
    fn __VERIFIER_nondet_longlong() -> u64 = nondet_longlong;
    fn __VERIFIER_nondet_ulonglong() -> u64 = nondet_ulonglong;
    fn __VERIFIER_nondet_size_t() -> u64 = nondet_size_t;
    fn __VERIFIER_nondet_loff_t() -> u64 = nondet_loff_t;
    fn __VERIFIER_nondet_sector_t() -> u64 = nondet_sector_t;
    fn __VERIFIER_nondet_unsigned() -> u32 = nondet_unsigned;
    fn __VERIFIER_nondet_u32() -> u32 = nondet_u32;
    fn __VERIFIER_nondet_u16() -> u16 = nondet_u16;
    fn __VERIFIER_nondet_u8() -> u8 = nondet_u8;
    fn __VERIFIER_nondet_unsigned_char() -> u8 = nondet_unsigned_char;
    fn __VERIFIER_nondet_unsigned_int() -> u32 = nondet_unsigned_int;
    fn __VERIFIER_nondet_u64() -> u64 = nondet_u64;
    fn __VERIFIER_nondet_pthread_t() -> u64 = nondet_pthread_t;
    fn __VERIFIER_nondet_pointer() -> Address = nondet_pointer;
    fn __VERIFIER_nondet_pchar() -> Address = nondet_pchar;
    fn __VERIFIER_nondet_memory(at: Address, len: u64) = nondet_memory;
    fn klee_int(name: Name) -> u32 = klee_int_from;
    fn klee_range(begin: u32, end: u32, name: Name) -> u32 = klee_range_from;
    fn reach_error() = reach_error_from;
}

unsafe extern "C-unwind" fn make_symbolic(at: Address, len: u64, name: Name, pc: usize) {
    if !gate::active() {
        return;
    }
    let at = at as u64;
    check(Kind::WriteRange, at, len, pc);
    let input = Input::next(len);
    if !vars::symbolic() {
        for offset in 0..len {
            // SAFETY: the program asked for these bytes to be written.
            unsafe { ((at + offset) as *mut u8).write(input.byte(offset)) };
        }
        input.record(at, 0, name, pc);
        return;
    }
    let size = if matches!(len, 1 | 2 | 4 | 8) { len } else { 1 };
    let mut first = (len > 0).then(|| input.expr(0, size));
    for offset in (0..len).step_by(size as usize) {
        let expr = input.expr(offset, size);
        if let Some(first) = first.take() {
            input.record(at, first, name, pc);
        }
        let access = Access::new(Kind::Write, at + offset, size as u32, pc);
        access.write(input.value(offset, size), expr);
    }
}

unsafe extern "C-unwind" fn nondet_memory(at: Address, len: u64, pc: usize) {
    // SAFETY: passed on; no name.
    unsafe { make_symbolic(at, len, core::ptr::null(), pc) };
}

/// Goes on only if `value`, the argument of the function `name`, is not 0.
fn assume(value: u64, name: &CStr, pc: usize) {
    if !gate::active() {
        if value == 0 {
            os::exit_group(0);
        }
        return;
    }
    assume_that(argument(name, 0), value, pc);
}

/// Goes on only if `value`, which has the expression `condition`, is not 0.
pub fn assume_that(condition: Expr, value: u64, pc: usize) {
    if condition != 0
        && let Some(truth) = world().nodes.truth(condition)
    {
        gate::log_full(Event {
            kind: Kind::Assume as u8,
            aux: built(truth, pc),
            value: u64::from(value != 0),
            pc: pc as u64,
            ..Event::default()
        });
    }
    if value == 0 {
        if gate::flags() & flags::STOPS_THREADS != 0 {
            gate::asking::gives_up(pc);
        }
        ends::announce(0, pc);
        gate::finish(Fatal {
            end: End::Assumed,
            code: 0,
            message: format_args!("an assumption does not hold"),
            detail: [0; 4],
            pc,
            stack: false,
        });
    }
}

unsafe extern "C-unwind" fn raddle_assume_from(condition: u32, pc: usize) {
    assume(condition.into(), c"raddle_assume", pc);
}

unsafe extern "C-unwind" fn klee_assume_from(condition: u64, pc: usize) {
    assume(condition, c"klee_assume", pc);
}

unsafe extern "C-unwind" fn verifier_assume_from(condition: u32, pc: usize) {
    assume(condition.into(), c"__VERIFIER_assume", pc);
}

/// The next input, of `size` bytes, as the result of the function `name`. `bits`: how many of
/// them.
fn nondet(name: &CStr, size: u64, bits: u8, pc: usize) -> u64 {
    if !gate::active() {
        return 0;
    }
    let (value, expr) = draw(name.as_ptr(), size, bits, pc);
    give_result(name, expr, value, pc);
    value
}

/// The next input, shown as `name`.
pub fn draw(name: Name, size: u64, bits: u8, pc: usize) -> (u64, Expr) {
    let input = Input::next(size);
    let value = input.value(0, size) & super::mask(bits);
    if !vars::symbolic() {
        input.record(0, 0, name, pc);
        return (value, 0);
    }
    let whole = input.expr(0, size);
    input.record(0, whole, name, pc);
    let expr = world().nodes.extract(whole, 0, bits);
    (value, built(expr, pc))
}

unsafe extern "C-unwind" fn klee_int_from(name: Name, pc: usize) -> u32 {
    if !gate::active() {
        return 0;
    }
    let (value, expr) = draw(name, 4, 32, pc);
    give_result(c"klee_int", expr, value, pc);
    value as u32
}

/// A number from `begin` up to, and without, `end`.
unsafe extern "C-unwind" fn klee_range_from(begin: u32, end: u32, name: Name, pc: usize) -> u32 {
    if !gate::active() {
        return begin;
    }
    let (value, expr) = draw(name, 4, 32, pc);
    let constant = |value: u32| Operand {
        expr: 0,
        value: value.into(),
    };
    let (value, room) = (value as u32, end.wrapping_sub(begin));
    let from = value.wrapping_sub(begin);
    let nodes = &mut world().nodes;
    let distance = Operand {
        expr: match expr {
            0 => 0,
            _ => {
                let own = Operand {
                    expr,
                    value: value.into(),
                };
                nodes.binary(Op::Sub, 32, own, constant(begin))
            }
        },
        value: from.into(),
    };
    let inside = nodes.binary(Op::Ult, 32, distance, constant(room));
    assume_that(inside, u64::from(from < room), pc);
    give_result(c"klee_range", expr, value.into(), pc);
    value
}

/// Functions without arguments, as hooks.
macro_rules! without_arguments {
    ($($function:ident($pc:ident) -> $ty:ty => $result:expr;)*) => {$(
        unsafe extern "C-unwind" fn $function($pc: usize) -> $ty {
            $result
        }
    )*};
}

macro_rules! nondets {
    ($($function:ident, $name:literal: $ty:ty, $bits:expr;)*) => {
        without_arguments! {$(
            $function(pc) -> $ty => nondet($name, size_of::<$ty>() as u64, $bits, pc) as $ty;
        )*}
    };
}

nondets! {
    nondet_int, c"__VERIFIER_nondet_int": u32, 32;
    nondet_uint, c"__VERIFIER_nondet_uint": u32, 32;
    nondet_long, c"__VERIFIER_nondet_long": u64, 64;
    nondet_ulong, c"__VERIFIER_nondet_ulong": u64, 64;
    nondet_short, c"__VERIFIER_nondet_short": u16, 16;
    nondet_ushort, c"__VERIFIER_nondet_ushort": u16, 16;
    nondet_char, c"__VERIFIER_nondet_char": u8, 8;
    nondet_uchar, c"__VERIFIER_nondet_uchar": u8, 8;
    nondet_bool, c"__VERIFIER_nondet_bool": u8, 1;
    nondet_longlong, c"__VERIFIER_nondet_longlong": u64, 64;
    nondet_ulonglong, c"__VERIFIER_nondet_ulonglong": u64, 64;
    nondet_size_t, c"__VERIFIER_nondet_size_t": u64, 64;
    nondet_loff_t, c"__VERIFIER_nondet_loff_t": u64, 64;
    nondet_sector_t, c"__VERIFIER_nondet_sector_t": u64, 64;
    nondet_unsigned, c"__VERIFIER_nondet_unsigned": u32, 32;
    nondet_u32, c"__VERIFIER_nondet_u32": u32, 32;
    nondet_u16, c"__VERIFIER_nondet_u16": u16, 16;
    nondet_u8, c"__VERIFIER_nondet_u8": u8, 8;
    nondet_unsigned_char, c"__VERIFIER_nondet_unsigned_char": u8, 8;
    nondet_unsigned_int, c"__VERIFIER_nondet_unsigned_int": u32, 32;
    nondet_u64, c"__VERIFIER_nondet_u64": u64, 64;
    nondet_pthread_t, c"__VERIFIER_nondet_pthread_t": u64, 64;
    nondet_pointer, c"__VERIFIER_nondet_pointer": Address, 64;
    nondet_pchar, c"__VERIFIER_nondet_pchar": Address, 64;
}

without_arguments! {
    nondet_float(pc) -> f32
        => f32::from_bits(nondet(c"__VERIFIER_nondet_float", 4, 32, pc) as u32);
    nondet_double(pc) -> f64 => f64::from_bits(nondet(c"__VERIFIER_nondet_double", 8, 64, pc));
    nondet_int128(pc) -> Wide => wide(c"__VERIFIER_nondet_int128", pc);
    nondet_uint128(pc) -> Wide => wide(c"__VERIFIER_nondet_uint128", pc);
}

/// The next input, of 16 bytes, as the result of the function `name`.
fn wide(name: &CStr, pc: usize) -> Wide {
    if !gate::active() {
        return Wide { low: 0, high: 0 };
    }
    let input = Input::next(16);
    let [low, high] = [0, 8].map(|offset| input.value(offset, 8));
    if !vars::symbolic() {
        input.record(0, 0, name.as_ptr(), pc);
        return Wide { low, high };
    }
    let exprs = [0, 8].map(|offset| input.expr(offset, 8));
    input.record(0, exprs[0], name.as_ptr(), pc);
    give_results(name, exprs, [low, high], pc);
    Wide { low, high }
}

unsafe extern "C-unwind" fn reach_error_from(pc: usize) {
    ends::fail_assertion(format_args!("reach_error() reached"), pc)
}

unsafe extern "C-unwind" fn error_from(pc: usize) {
    ends::fail_assertion(format_args!("__VERIFIER_error() reached"), pc)
}

unsafe extern "C-unwind" fn assert_from(condition: u32, pc: usize) {
    if condition == 0 {
        ends::fail_assertion(format_args!("__VERIFIER_assert() failed"), pc)
    }
}
