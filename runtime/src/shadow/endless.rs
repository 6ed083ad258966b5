//! Loops that take no step and go on by decisions and inputs alone: the limit of steps counts for
//! them as well, or they would fill the records.

use crate::gate::{self, Fatal};
use crate::serial::Serial;
use raddle_protocol::outcome::End;

/// Steps that had been taken at the last decision, and decisions since then.
static SINCE: Serial<(u64, u64)> = Serial::new((0, 0));

/// The running thread of a symbolic run decides something, or asks for an input. Ends the execution
/// if that has happened too often since the last step.
pub fn decides(pc: usize) {
    // SAFETY: the running thread; the reference is not kept.
    let since = unsafe { SINCE.get() };
    let (steps, limit) = (gate::steps(), gate::limit());
    if since.0 != steps {
        *since = (steps, 0);
    }
    since.1 += 1;
    if since.1 > limit {
        gate::finish(Fatal {
            end: End::StepLimit,
            code: 0,
            message: format_args!(
                "still running after {limit} decisions and inputs without a step (--max-steps)"
            ),
            detail: [limit, 0, 0, 0],
            pc,
            stack: true,
        });
    }
}
