//! KLEE's names beside those of [`super::harness`]: what its test programs call. What only steers or
//! comments KLEE's own search does nothing.

use super::calls::{argument, give_result};
use super::harness::{assume_that, draw};
use super::simplify::Operand;
use super::world;
use crate::access::check;
use crate::{ends, gate, os};
use core::ffi::{CStr, c_char, c_void};
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Op;

type Address = *mut c_void;
type Text = *const c_char;

crate::hooks! { ROWS:
    fn klee_choose(count: u64) -> u64 = choose;
    fn klee_is_symbolic(value: u64) -> u32 = is_symbolic;
    fn klee_is_replay() -> u32 = is_replay;
    fn klee_get_value_i32(value: u32) -> u32 = value_of_half;
    fn klee_get_value_i64(value: u64) -> u64 = value_of;
    fn klee_get_valuel(value: u64) -> u64 = value_of;
    fn klee_get_valuell(value: u64) -> u64 = value_of;
    fn klee_get_errno() -> u32 = errno;
    fn klee_silent_exit(status: u32) = silent_exit;
    fn klee_report_error(file: Text, line: u32, message: Text, suffix: Text) = report_error;
    fn klee_assert_fail(what: Text, file: Text, line: u32, function: Text) = assert_fail;
    fn klee_abort() = abort;
    fn klee_check_memory_access(at: Address, len: u64) = check_access;
    fn klee_prefer_cex(at: Address, condition: u64) = ignore_two;
    fn klee_posix_prefer_cex(at: Address, condition: u64) = ignore_two;
    fn klee_mark_global(at: Address) = ignore_address;
    fn klee_open_merge() = ignore;
    fn klee_close_merge() = ignore;
    fn klee_set_forking(enable: u32) = ignore_number;
    fn klee_warning(message: Text) = ignore_text;
    fn klee_warning_once(message: Text) = ignore_text;
    fn klee_stack_trace() = ignore;
    fn klee_print_expr(message: Text) = ignore_text;
    fn klee_print_range(name: Text, value: u32) = ignore_text_and_number;
}

/// A number below `count`.
unsafe extern "C-unwind" fn choose(count: u64, pc: usize) -> u64 {
    if !gate::active() {
        return 0;
    }
    let name = c"klee_choose";
    let bound = Operand {
        expr: argument(name, 0),
        value: count,
    };
    let (value, expr) = draw(name.as_ptr(), 8, 64, pc);
    let inside = match (expr, bound.expr) {
        (0, 0) => 0,
        _ => {
            let nodes = &mut world().nodes;
            nodes.binary(Op::Ult, 64, Operand { expr, value }, bound)
        }
    };
    assume_that(inside, u64::from(value < count), pc);
    give_result(name, expr, value, pc);
    value
}

unsafe extern "C-unwind" fn is_symbolic(_: u64, _: usize) -> u32 {
    u32::from(gate::active() && argument(c"klee_is_symbolic", 0) != 0)
}

unsafe extern "C-unwind" fn is_replay(_: usize) -> u32 {
    0
}

/// The caller has decided on the value, since no expression is taken here.
unsafe extern "C-unwind" fn value_of(value: u64, _: usize) -> u64 {
    value
}

/// As [`value_of`].
unsafe extern "C-unwind" fn value_of_half(value: u32, _: usize) -> u32 {
    value
}

unsafe extern "C-unwind" fn errno(_: usize) -> u32 {
    // SAFETY: the C library's own variable of the running thread.
    unsafe { *libc::__errno_location() as u32 }
}

/// Ends the process, and nothing counts as found.
unsafe extern "C-unwind" fn silent_exit(status: u32, pc: usize) {
    if !gate::active() {
        os::exit_group(status as i32);
    }
    assume_that(0, 0, pc);
}

unsafe extern "C-unwind" fn report_error(_: Text, _: u32, message: Text, _: Text, pc: usize) {
    // SAFETY: KLEE's contract: a NUL-terminated text.
    let message = unsafe { CStr::from_ptr(message) };
    let message = message.to_str().unwrap_or("an error");
    ends::fail_assertion(format_args!("{message}"), pc)
}

/// What KLEE's macro `klee_assert` calls.
unsafe extern "C-unwind" fn assert_fail(what: Text, _: Text, _: u32, _: Text, pc: usize) {
    // SAFETY: KLEE's contract: a NUL-terminated text.
    let what = unsafe { CStr::from_ptr(what) };
    let what = what.to_str().unwrap_or("its condition");
    ends::fail_assertion(format_args!("klee_assert({what}) failed"), pc)
}

unsafe extern "C-unwind" fn abort(pc: usize) {
    ends::fail_assertion(format_args!("klee_abort() reached"), pc)
}

unsafe extern "C-unwind" fn check_access(at: Address, len: u64, pc: usize) {
    if gate::active() {
        check(Kind::ReadRange, at as u64, len, pc);
    }
}

macro_rules! ignored {
    ($($function:ident($($ty:ty),*);)*) => {$(
        unsafe extern "C-unwind" fn $function($(_: $ty),*) {}
    )*};
}

ignored! {
    ignore(usize);
    ignore_address(Address, usize);
    ignore_number(u32, usize);
    ignore_text(Text, usize);
    ignore_two(Address, u64, usize);
    ignore_text_and_number(Text, u32, usize);
}
