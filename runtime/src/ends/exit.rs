//! exit and its kin. The outcome is written at the real end: after the program's own handlers.

use crate::gate::{self, Fatal};
use crate::heap;
use crate::intercept;
use crate::serial::Serial;
use core::ffi::{c_int, c_void};
use raddle_protocol::event::{Kind, handlers};
use raddle_protocol::outcome::End;

mod real {
    crate::real! {
        fn exit(status: core::ffi::c_int) -> !;
        fn _exit(status: core::ffi::c_int) -> !;
        fn quick_exit(status: core::ffi::c_int) -> !;
    }
}

crate::export! {
    /// As in C; the outcome is written after the handlers.
    fn exit(status: c_int) -> ! = exit_from;
    /// As in POSIX.
    fn _exit(status: c_int) -> ! = exit_at_once_from;
    /// As in C.
    fn _Exit(status: c_int) -> ! = exit_at_once_from;
    /// As in C; the outcome is written after the handlers.
    fn quick_exit(status: c_int) -> ! = quick_exit_from;
}

unsafe extern "C" {
    fn at_quick_exit(handler: extern "C" fn()) -> c_int;
}

/// A handler with its argument.
type Handler = extern "C-unwind" fn(c_int, *mut c_void);

mod registration {
    use super::*;

    intercept! {
        fn on_exit(handler: Handler, argument: *mut c_void) -> c_int, pc => {
            gate::log(Kind::HandedOn, handlers::EXIT, 0, pc);
            real::on_exit(handler, argument)
        };
        /// What `atexit`, a part of every program, calls; destructors of static objects, too.
        fn __cxa_atexit(handler: Handler, argument: *mut c_void, module: *mut c_void) -> c_int, pc => {
            gate::log(Kind::HandedOn, handlers::EXIT, 0, pc);
            real::__cxa_atexit(handler, argument, module)
        };
        /// What `at_quick_exit` calls.
        fn __cxa_at_quick_exit(handler: Handler, module: *mut c_void) -> c_int, pc => {
            gate::log(Kind::HandedOn, handlers::QUICK_EXIT, 0, pc);
            real::__cxa_at_quick_exit(handler, module)
        };
    }

    /// [`on_exit`] for the library itself.
    pub unsafe fn last(handler: Handler) -> c_int {
        // SAFETY: the caller's promise.
        unsafe { real::on_exit(handler, core::ptr::null_mut()) }
    }
}

/// Where the program first asked to exit, and with which status.
static ASKED: Serial<Option<(usize, c_int)>> = Serial::new(None);

/// Registers the handlers that run last because they are registered first.
pub(super) fn install() {
    // SAFETY: the handlers live as long as the process.
    unsafe {
        registration::last(after_handlers);
        at_quick_exit(after_quick_handlers);
    }
}

/// Notes where and with which status the program asks to exit; decides on a symbolic status.
fn ask(status: c_int, expression: u32, pc: usize) {
    if !gate::active() {
        return;
    }
    // A handler may choose another status than the one that was asked for first.
    crate::shadow::exit_status(expression, status as u32, pc);
    // SAFETY: only the running thread comes here, and the reference is not kept.
    if unsafe { ASKED.get() }.is_some() {
        return;
    }
    crate::openmp::before_exit(pc);
    super::announce_exit(status, pc);
    if status & 0xff != 0 && pc != 0 {
        gate::fails_here();
    }
    for registered in [handlers::EXIT, handlers::QUICK_EXIT] {
        gate::log(Kind::TakenOver, registered, 0, pc);
    }
    // SAFETY: as above.
    *unsafe { ASKED.get() } = Some((pc, status));
}

fn asked() -> (usize, c_int) {
    // SAFETY: as in `ask`.
    unsafe { ASKED.get() }.unwrap_or((0, 0))
}

extern "C-unwind" fn after_handlers(status: c_int, _: *mut c_void) {
    finish(status);
}

extern "C" fn after_quick_handlers() {
    finish(asked().1);
}

/// Looks through the heap and writes the outcome.
fn finish(status: c_int) {
    if !gate::active() {
        return;
    }
    let pc = asked().0;
    if let Err(fault) = heap::verify() {
        heap::report(fault, heap::Operation::Check, pc);
    }
    gate::record(&Fatal {
        end: End::Exit,
        code: status & 0xff,
        message: format_args!(""),
        detail: [0; 4],
        pc,
        stack: false,
    });
}

/// What `main` returning does; also runs when the last thread ends after `main` left by
/// `pthread_exit`.
pub fn exit(status: c_int) -> ! {
    main_returned(status, 0)
}

/// [`exit`] with the expression of the status (0: concrete).
pub fn main_returned(status: c_int, expression: u32) -> ! {
    ask(status, expression, 0);
    // SAFETY: the C library's exit; no frame of ours holds anything.
    unsafe { real::exit(status) }
}

unsafe extern "C-unwind" fn exit_from(
    status: c_int,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> ! {
    ask(status, crate::shadow::argument(c"exit", 0), pc);
    // SAFETY: passed on.
    unsafe { real::exit(status) }
}

unsafe extern "C-unwind" fn quick_exit_from(
    status: c_int,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> ! {
    ask(status, crate::shadow::argument(c"quick_exit", 0), pc);
    // SAFETY: passed on.
    unsafe { real::quick_exit(status) }
}

unsafe extern "C-unwind" fn exit_at_once_from(
    status: c_int,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> ! {
    let expression = match crate::shadow::argument(c"_exit", 0) {
        0 => crate::shadow::argument(c"_Exit", 0),
        expression => expression,
    };
    ask(status, expression, pc);
    finish(status);
    // SAFETY: passed on.
    unsafe { real::_exit(status) }
}
