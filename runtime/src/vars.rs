//! Variables that instrumented code reads and writes: see [`raddle_protocol::hooks`].
//!
//! All access goes through the functions below: the symbols may be preempted by a copy in the
//! executable, so they must not be assumed to lie in this library.
#![allow(non_upper_case_globals)]

use crate::serial::Serial;
use raddle_protocol::hooks::{ARGS_LEN, MODE_ACCESSES, MODE_STATES, MODE_SYMBOLIC};

/// [`raddle_protocol::hooks::MODE`].
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static mut raddle_mode: u32 = 0;
/// [`raddle_protocol::hooks::ARGS`].
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static mut raddle_sym_args: [u32; ARGS_LEN] = [0; ARGS_LEN];
/// [`raddle_protocol::hooks::COPIES`].
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static mut raddle_sym_copies: [usize; ARGS_LEN] = [0; ARGS_LEN];
/// [`raddle_protocol::hooks::CALLEE`].
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static mut raddle_sym_callee: usize = 0;
/// [`raddle_protocol::hooks::RESULT`].
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static mut raddle_sym_result: u32 = 0;
/// [`raddle_protocol::hooks::RETURNER`].
#[cfg_attr(not(test), unsafe(no_mangle))]
pub static mut raddle_sym_returner: usize = 0;

/// Are accesses of instrumented code scheduling points now?
pub fn accesses() -> bool {
    // SAFETY: a plain word, written by the running thread only.
    unsafe { raddle_mode & MODE_ACCESSES != 0 }
}

/// Does the symbolic shadow run?
pub fn symbolic() -> bool {
    // SAFETY: as above.
    unsafe { raddle_mode & MODE_SYMBOLIC != 0 }
}

/// All bits of the mode.
pub fn mode() -> u32 {
    // SAFETY: as above.
    unsafe { raddle_mode }
}

/// Sets or clears bits of the mode.
pub fn set_mode(bits: u32, on: bool) {
    // SAFETY: as above.
    unsafe {
        if on {
            raddle_mode |= bits;
        } else {
            raddle_mode &= !bits;
        }
    }
}

/// Calls `f`, in which the C library may call back an allocator of the program's: it runs as it would
/// natively, but that its accesses are [noticed](called_back).
pub fn calling_back<R>(f: impl FnOnce() -> R) -> R {
    let before = mode();
    set_mode(before, false);
    set_mode(MODE_ACCESSES, true);
    // SAFETY: the running thread; the reference is not kept.
    unsafe { CALLED_BACK.get() }.0 = true;
    let result = f();
    // SAFETY: as above.
    unsafe { CALLED_BACK.get() }.0 = false;
    set_mode(MODE_ACCESSES, false);
    set_mode(before, true);
    result
}

/// Something that may be called back runs now, and has made an access in any such time.
static CALLED_BACK: Serial<(bool, bool)> = Serial::new((false, false));

/// Has code of the program's made accesses in a call that [calls back](calling_back)?
pub fn called_back() -> bool {
    // SAFETY: the running thread; the reference is not kept.
    unsafe { CALLED_BACK.get() }.1
}

/// Code of the program's makes an access while nothing is controlled.
#[cold]
pub fn not_controlled() {
    // SAFETY: as above.
    let (now, any) = unsafe { CALLED_BACK.get() };
    *any |= *now;
}

/// Tells of states that few programs change ([`crate::states::any_rare`]) in those.
pub fn look_for_rare_states() {
    set_mode(MODE_STATES, crate::states::any_rare());
    crate::states::variables::look_for_insides();
}

/// The expression of argument `index` if the call under way is to the function at `callee`
/// (0: concrete).
pub fn argument(callee: usize, index: usize) -> u32 {
    // SAFETY: plain words, written by the running thread only.
    unsafe {
        if raddle_mode & MODE_SYMBOLIC != 0 && raddle_sym_callee == callee {
            raddle_sym_args[index]
        } else {
            0
        }
    }
}

/// Prepares a call of `callee` whose only argument has the expression `argument`.
pub fn prepare_call(callee: usize, argument: u32) {
    // SAFETY: as above.
    unsafe {
        raddle_sym_callee = callee;
        raddle_sym_returner = 0;
        raddle_sym_args[0] = argument;
    }
}

/// Callee, returner and result of the call under way.
pub fn call() -> (usize, usize, u32) {
    // SAFETY: as above.
    unsafe { (raddle_sym_callee, raddle_sym_returner, raddle_sym_result) }
}

/// Sets what [`call`] returned, after other threads ran.
pub fn resume_call((callee, returner, result): (usize, usize, u32)) {
    // SAFETY: as above.
    unsafe {
        raddle_sym_callee = callee;
        raddle_sym_returner = returner;
        raddle_sym_result = result;
    }
}

/// The expression of the result of the call of `callee` that has just returned (0: concrete).
pub fn result_of(callee: usize) -> u32 {
    // SAFETY: as above.
    unsafe {
        if raddle_mode & MODE_SYMBOLIC != 0 && raddle_sym_returner == callee {
            raddle_sym_result
        } else {
            0
        }
    }
}

/// Leaves the expression of a hook's result (0: concrete) for the instrumented caller.
pub fn set_result(expression: u32) {
    // SAFETY: as above.
    unsafe { raddle_sym_result = expression };
}

/// Sets the expression of argument `index` of the call that the instrumented caller prepares.
pub fn set_argument(index: usize, expression: u32) {
    // SAFETY: as above; an index out of range is ignored.
    unsafe {
        let arguments = &raw mut raddle_sym_args;
        if index < ARGS_LEN {
            (*arguments)[index] = expression;
        }
    }
}

/// Returns an expression from the function at `callee`, as a symbolic callee does; `false` if the
/// call under way is not an instrumented caller's call of it (then nobody takes the expression).
pub fn give_result(callee: usize, expression: u32) -> bool {
    // SAFETY: as above.
    unsafe {
        let entered = callee != 0 && raddle_sym_callee == callee;
        raddle_sym_callee = 0;
        raddle_sym_returner = if entered { callee } else { 0 };
        raddle_sym_result = expression;
        entered
    }
}
