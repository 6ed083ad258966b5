//! Condition waits that end although nobody signalled, with `flags::SPURIOUS`: POSIX allows it, and
//! a program that tests its condition once instead of in a loop does not survive it.
//!
//! Whether a wait is to end so is a choice at its start. The thread then only waits for its mutex,
//! and goes on at any moment that the schedule likes; whatever it would have missed meanwhile, a
//! thread that woke for no reason may miss too.

use crate::gate;
use crate::serial::Serial;
use raddle_protocol::shared::{SPURIOUS_WAKE_UPS, flags};

/// So many waits of this execution end for no reason.
static TAKEN: Serial<u32> = Serial::new(0);

/// Does the wait that begins end for no reason? `None` where that is not asked: the caller writes
/// the record of the choice otherwise.
pub fn chosen() -> Option<bool> {
    // SAFETY: the running thread; the reference is not kept over a switch.
    let taken = unsafe { TAKEN.get() };
    if gate::flags() & flags::SPURIOUS == 0 || *taken >= SPURIOUS_WAKE_UPS {
        return None;
    }
    let chosen = gate::choose(2) == 1;
    *taken += u32::from(chosen);
    Some(chosen)
}
