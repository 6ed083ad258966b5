//! Ways for an execution to end: exit, abort, failed assertions, fatal signals.
//!
//! What is found here is written into the outcome and then takes its native course, so that the
//! wait status of the process is what it would be without us.

mod abort;
mod exit;
mod signals;

pub use abort::{abort_natively, fail_assertion};
pub use exit::{exit, main_returned};
pub use signals::use_alternate_stack;

/// Called once by `start` in the process that may run the program (the zygote), before the C
/// library's `__libc_start_main`.
pub fn install() {
    crate::heap::prepare();
    exit::install();
    signals::install();
}
