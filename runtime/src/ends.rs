//! Ways for an execution to end: exit, abort, failed assertions, fatal signals.
//!
//! What is found here is written into the outcome and then takes its native course, so that the
//! wait status of the process is what it would be without us.

mod abort;
mod exit;
mod handlers;
mod panics;
mod signals;

use crate::gate;
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;

pub use abort::{abort_natively, fail_assertion};
pub use exit::{begin, exit, main_returned};
pub use signals::{fatal_signal, is_handler, use_alternate_stack, watch};

/// In a symbolic run and an exhaustive search the end of the process is a step, announced before it takes effect.
pub fn announce(status: core::ffi::c_int, pc: usize) {
    if gate::active() && are_explored() {
        announced(status, pc);
    }
}

/// As [`announce`], for an exit, which others may come before in any run: what they do until then
/// may be what fails.
pub fn announce_exit(status: core::ffi::c_int, pc: usize) {
    if gate::active() && are_ends_steps() {
        announced(status, pc);
    }
}

/// See [`handlers::look_for_registration`].
pub fn look_for_registration() {
    handlers::look_for_registration();
}

fn are_explored() -> bool {
    gate::flags() & flags::EXHAUSTIVE != 0 || crate::vars::symbolic()
}

/// Is an exit, and what leads to it, a step?
fn are_ends_steps() -> bool {
    are_explored() || gate::threads_alive() > 1
}

fn announced(status: core::ffi::c_int, pc: usize) {
    gate::ask_to_end();
    gate::simple(Kind::ProcessEnd, 0, pc);
    gate::log(Kind::ProcessEnd, 0, status as u64, pc);
}

/// Called once by `start` in the process that may run the program (the zygote), before the C
/// library's `__libc_start_main`.
pub fn install() {
    crate::heap::prepare();
    crate::shadow::find_modelled();
    exit::install();
    signals::install();
}
