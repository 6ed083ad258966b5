//! Queues, semaphores and shared memory of System V belong to the execution: executions do not meet
//! in them, their ids are the same in each, and nothing is left behind. If the first that a program
//! asks for is there already, it is another process's, and the program stays with the others.

use super::namespaces;
use crate::serial::Serial;
use libc::CLONE_NEWIPC;

/// `None`: nothing was asked for as yet.
static OWN: Serial<Option<bool>> = Serial::new(None);

/// Has the execution an IPC namespace of its own?
pub fn is_own() -> bool {
    // SAFETY: a plain flag.
    unsafe { *OWN.get() == Some(true) }
}

/// To be called before the program asks for such an object: moves the execution into an IPC
/// namespace of its own, unless what is asked for `exists` in the present one, or the system does
/// not allow it. Is it in one?
pub fn own(exists: impl FnOnce() -> bool) -> bool {
    // SAFETY: a plain flag; not kept.
    if unsafe { OWN.get() }.is_none() {
        let own = !exists() && namespaces::enter(CLONE_NEWIPC);
        // SAFETY: as above.
        unsafe { *OWN.get() = Some(own) };
    }
    is_own()
}
