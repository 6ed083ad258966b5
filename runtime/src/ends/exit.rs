//! exit and its kin. The outcome is written at the real end: after the program's own handlers. Until
//! then others go on, and may end the process as well.

use super::handlers::{self, List};
use crate::gate::{self, Fatal};
use crate::heap;
use crate::serial::Serial;
use crate::slots::{PerSlot, Zero};
use core::ffi::{c_int, c_void};
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

/// Where a thread last asked to exit, and with which status.
#[derive(Clone, Copy)]
struct Asked {
    pc: usize,
    status: c_int,
}

// SAFETY: integers.
unsafe impl Zero for Asked {}

static ASKED: Serial<PerSlot<Asked>> = Serial::new(PerSlot::new());
/// Some thread has asked.
static ANYBODY: Serial<bool> = Serial::new(false);
/// The outcome is written.
static ENDED: Serial<bool> = Serial::new(false);

/// The C library's own: runs the destructors of the calling thread's thread-local objects.
static DESTRUCTORS: Serial<Option<unsafe extern "C" fn()>> = Serial::new(None);

/// Registers the handlers that run last because they are registered first.
pub(super) fn install() {
    handlers::install_after(after_handlers);
    handlers::install_after_quick(after_quick_handlers);
    // SAFETY: a plain look-up; the function takes and returns nothing.
    unsafe {
        let found = libc::dlsym(libc::RTLD_NEXT, c"__call_tls_dtors".as_ptr());
        *DESTRUCTORS.get() =
            core::mem::transmute::<*mut c_void, Option<unsafe extern "C" fn()>>(found);
    }
}

/// To be called in the process that obeys the job.
pub fn begin() {
    // SAFETY: only one thread exists.
    unsafe { ASKED.get().map() };
    handlers::begin();
}

fn asked() -> &'static mut Asked {
    // SAFETY: only the running thread comes here; no caller keeps it over a switch.
    unsafe { &mut ASKED.get()[gate::me()] }
}

/// Where the running thread last asked to exit.
pub(super) fn asked_at() -> usize {
    asked().pc
}

/// Notes where and with which status the thread asks to exit, and decides on a symbolic status. `list`:
/// what runs before the end.
fn ask(status: c_int, expression: u32, list: Option<List>, pc: usize) {
    if !gate::active() {
        return;
    }
    crate::shadow::exit_status(expression, status as u32, pc);
    // SAFETY: a plain flag.
    if !core::mem::replace(unsafe { ANYBODY.get() }, true) {
        crate::openmp::before_exit(pc);
    }
    *asked() = Asked { pc, status };
    match list {
        Some(list) => {
            // SAFETY: a function of the C library that `exit` calls first; then there are none left.
            let destructors = unsafe { *DESTRUCTORS.get() };
            if list == List::Exit
                && let Some(run) = destructors
            {
                // SAFETY: as above.
                unsafe { run() };
            }
            handlers::next(list, pc);
        }
        None => super::announce_exit(status, pc),
    }
    if status & 0xff != 0 && pc != 0 {
        gate::fails_here();
    }
    handlers::taken_over(pc);
}

unsafe extern "C-unwind" fn after_handlers(status: c_int, _: *mut c_void) {
    if ends_here() {
        handlers::install_after(after_handlers);
        if handlers::any_more(List::Exit, asked().pc) {
            return;
        }
        super::announce_exit(status, asked().pc);
        finish(status);
    }
}

unsafe extern "C-unwind" fn after_quick_handlers(_: *mut c_void) {
    if ends_here() {
        handlers::install_after_quick(after_quick_handlers);
        if handlers::any_more(List::QuickExit, asked().pc) {
            return;
        }
        super::announce_exit(asked().status, asked().pc);
        finish(asked().status);
    }
}

/// Is the end of the list the end of the process, and has nobody ended it?
fn ends_here() -> bool {
    gate::active() && !has_ended()
}

/// Is the outcome written?
pub(super) fn has_ended() -> bool {
    // SAFETY: a plain flag.
    unsafe { *ENDED.get() }
}

/// Looks through the heap and writes the outcome.
fn finish(status: c_int) {
    if !gate::active() {
        return;
    }
    // SAFETY: a plain flag.
    unsafe { *ENDED.get() = true };
    let pc = asked().pc;
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
    ask(status, expression, Some(List::Exit), 0);
    // SAFETY: the C library's exit; no frame of ours holds anything.
    unsafe { real::exit(status) }
}

unsafe extern "C-unwind" fn exit_from(status: c_int, pc: usize) -> ! {
    let expression = crate::shadow::argument(c"exit", 0);
    ask(status, expression, Some(List::Exit), pc);
    // SAFETY: passed on.
    unsafe { real::exit(status) }
}

unsafe extern "C-unwind" fn quick_exit_from(status: c_int, pc: usize) -> ! {
    let expression = crate::shadow::argument(c"quick_exit", 0);
    ask(status, expression, Some(List::QuickExit), pc);
    // SAFETY: passed on.
    unsafe { real::quick_exit(status) }
}

unsafe extern "C-unwind" fn exit_at_once_from(status: c_int, pc: usize) -> ! {
    let expression = match crate::shadow::argument(c"_exit", 0) {
        0 => crate::shadow::argument(c"_Exit", 0),
        expression => expression,
    };
    ask(status, expression, None, pc);
    finish(status);
    // SAFETY: passed on.
    unsafe { real::_exit(status) }
}
