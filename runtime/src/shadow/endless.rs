//! Loops that take no step and go on by decisions and inputs alone: the limit of steps counts for
//! them as well, or they would fill the records.

use crate::gate::{self, Fatal};
use crate::serial::Serial;
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;

/// Steps that had been taken at the last decision, and decisions since then.
static SINCE: Serial<(u64, u64)> = Serial::new((0, 0));

/// The running thread of a symbolic run decides something, or asks for an input: is that recorded?
/// Ends the execution if it has happened too often since the last step, or follows it no further
/// (`flags::LONG_WAYS`).
pub fn decides(pc: usize) -> bool {
    // SAFETY: the running thread; the reference is not kept.
    let since = unsafe { SINCE.get() };
    let (steps, limit) = (gate::steps(), gate::limit());
    if since.0 != steps {
        *since = (steps, 0);
    }
    since.1 += 1;
    let recorded = since.1 <= limit;
    if !recorded && gate::flags() & flags::LONG_WAYS != 0 {
        super::world().nodes.close();
    } else if !recorded {
        gate::finish(Fatal {
            end: End::StepLimit,
            code: 0,
            message: format_args!(
                "still running after {limit} decisions and inputs without a step (--max-steps)"
            ),
            detail: [limit, 1, 0, 0],
            pc,
            stack: true,
        });
    }
    recorded
}
