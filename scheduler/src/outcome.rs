//! Joins what the runtime wrote with what the kernel says.

use crate::ended::Ended;
use crate::error::Corruption;
use crate::pages::Written;
use crate::stuck::Stuck;
use raddle_protocol::outcome::{Divergence, End};
use raddle_protocol::trace::Outcome;
use raddle_protocol::{Slot, slot};

/// The outcome of an execution. `running`: the slot that ran last; `stuck`: what was seen when it
/// was killed for its time, if it was.
pub fn join(
    written: Written,
    ended: Ended,
    running: Slot,
    stuck: Option<&Stuck>,
) -> Result<Outcome, Corruption> {
    let end = End::from_u32(written.end).ok_or(Corruption::Outcome("unknown end"))?;
    check(end, &written)?;
    let mut outcome = Outcome {
        end,
        code: written.code,
        thread: known(written.thread),
        detail: written.detail,
        message: String::from_utf8_lossy(&written.message).into_owned(),
        stack: written.stack,
        waits: written.waits,
        timed_out: stuck.is_some(),
    };
    // An exit that the runtime saw may still change in an exit handler; the kernel knows best.
    if matches!(end, End::None | End::Exit) {
        (outcome.end, outcome.code) = match ended {
            Ended::Exit(code) => (End::Exit, code),
            Ended::Signal(signal) => (End::Signal, signal),
        };
        if end == End::None {
            outcome.thread = known(running);
        }
        if let Some(stuck) = stuck {
            outcome.thread = known(running);
            outcome.detail = stuck.detail();
            outcome.message = stuck.to_string();
        } else if outcome.end == End::Signal {
            outcome.message = format!("the runtime did not see it coming: it {ended}");
        }
    }
    Ok(outcome)
}

fn known(thread: Slot) -> Slot {
    match usize::from(thread) < slot::COUNT {
        true => thread,
        false => slot::NONE,
    }
}

/// What the rest of raddle takes for granted about an outcome.
fn check(end: End, written: &Written) -> Result<(), Corruption> {
    let divergence = u32::try_from(written.detail[2])
        .ok()
        .and_then(Divergence::from_u32);
    if end == End::Divergence && divergence.is_none() {
        return Err(Corruption::Outcome("unknown divergence"));
    }
    let kind = |w: &raddle_protocol::outcome::Wait| raddle_protocol::event::Kind::from_u8(w.kind);
    if written.waits.iter().any(|w| kind(w).is_none()) {
        return Err(Corruption::Outcome("a wait of no known kind"));
    }
    Ok(())
}
