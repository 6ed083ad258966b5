//! Joins what the runtime wrote with what the kernel says.

use crate::ended::Ended;
use crate::error::Corruption;
use crate::pages::Written;
use crate::stuck::Stuck;
use crate::target::Statuses;
use raddle_protocol::outcome::{Divergence, End};
use raddle_protocol::trace::Outcome;
use raddle_protocol::{Slot, slot};

/// The outcome of an execution. `running`: the slot that ran last; `stuck`: what was seen when it
/// was killed for its time, if it was; `accepted`: see
/// [`crate::Limits`].
pub fn join(
    written: Written,
    ended: Ended,
    running: Slot,
    stuck: Option<&Stuck>,
    accepted: Statuses,
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
        accepted: false,
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
            outcome.message = format!("the process {ended}");
        }
    }
    outcome.accepted = outcome.end == End::Exit && accepted.contains(outcome.code);
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

#[cfg(test)]
mod tests {
    use super::*;

    use crate::pages::Progress;
    use crate::stuck::Doing;
    use raddle_protocol::event::Kind;
    use raddle_protocol::outcome::Wait;

    fn written(end: End, code: i32) -> Written {
        Written {
            end: end as u32,
            code,
            thread: 4,
            message: b"said".to_vec(),
            ..Written::default()
        }
    }

    #[test]
    fn the_kernel_knows_best_how_a_process_ended() {
        let cases = [
            (written(End::None, 0), Ended::Exit(3), End::Exit, 3, 9),
            (written(End::None, 0), Ended::Signal(6), End::Signal, 6, 9),
            (written(End::Exit, 0), Ended::Exit(0), End::Exit, 0, 4),
            (written(End::Exit, 0), Ended::Exit(7), End::Exit, 7, 4),
            (written(End::Exit, 0), Ended::Signal(11), End::Signal, 11, 4),
            (
                written(End::Assertion, 0),
                Ended::Signal(6),
                End::Assertion,
                0,
                4,
            ),
            (
                written(End::Deadlock, 0),
                Ended::Exit(1),
                End::Deadlock,
                0,
                4,
            ),
            (written(End::Signal, 8), Ended::Signal(8), End::Signal, 8, 4),
        ];
        for (written, ended, end, code, thread) in cases {
            let outcome = join(written, ended, 9, None, Statuses::NONE).expect("well-formed");
            assert_eq!(
                (outcome.end, outcome.code, outcome.thread),
                (end, code, thread)
            );
            assert!(!outcome.timed_out);
        }
    }

    #[test]
    fn malformed_outcomes_are_refused() {
        let mut unknown = written(End::None, 0);
        unknown.end = 9999;
        let mut divergence = written(End::Divergence, 0);
        divergence.detail[2] = 1 << 40;
        let mut waits = written(End::Deadlock, 0);
        waits.waits = vec![Wait::default()];
        for bad in [unknown, divergence, waits] {
            assert!(join(bad, Ended::Exit(0), 0, None, Statuses::NONE).is_err());
        }
        let mut nobody = written(End::Exit, 0);
        nobody.thread = 60_000;
        let outcome = join(nobody, Ended::Exit(0), 0, None, Statuses::NONE).expect("well-formed");
        assert_eq!(outcome.thread, slot::NONE);
    }

    #[test]
    fn a_time_out_says_what_was_going_on() {
        let stuck = |kind, doing, moving| Stuck {
            progress: Progress {
                thread: 3,
                kind,
                pc: 0x40,
                steps: 12,
            },
            doing,
            moving,
            place: None,
            address: None,
            waits_outside: false,
        };
        let unlock = Kind::MutexUnlock as u32;
        let read = Doing::Blocked(libc::SYS_read as u64);
        let cases = [
            (
                stuck(unlock, Doing::Computing, false),
                "T3 is in uncontrolled code since its mutex_unlock, computing",
            ),
            (
                stuck(unlock, read, false),
                "blocked in the system call read",
            ),
            (
                stuck(unlock, Doing::Blocked(99_999), false),
                "blocked in system call 99999",
            ),
            (
                stuck(0, Doing::Stopped, false),
                "since its start, stopped by a signal",
            ),
            (stuck(u32::MAX, Doing::Unknown, false), "since its start"),
            (
                stuck(unlock, Doing::Computing, true),
                "its threads go on taking steps",
            ),
        ];
        for (stuck, text) in cases {
            let outcome = join(
                written(End::None, 0),
                Ended::Signal(9),
                3,
                Some(&stuck),
                Statuses::NONE,
            );
            let outcome = outcome.expect("well-formed");
            assert!(outcome.timed_out);
            assert_eq!(
                (outcome.end, outcome.code, outcome.thread),
                (End::Signal, 9, 3)
            );
            assert!(outcome.message.contains(text), "{}", outcome.message);
            assert_eq!(outcome.detail[3], 12);
        }
        let outcome = join(
            written(End::Assertion, 0),
            Ended::Signal(9),
            3,
            Some(&stuck(unlock, read, false)),
            Statuses::NONE,
        );
        let outcome = outcome.expect("well-formed");
        assert_eq!(
            (outcome.end, outcome.message.as_str()),
            (End::Assertion, "said")
        );
        assert!(outcome.timed_out);
    }
}
