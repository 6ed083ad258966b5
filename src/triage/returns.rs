//! Witnesses without the steps by which calls return, where the failure does not need them: there
//! are fewer schedules to look through for a simple one, and the program is run as ever.

use super::{Failure, Result, Seen, Trace, Triage, flags, records_for, schedule_of};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::total_steps;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;

impl Triage<'_> {
    /// The execution, or one like it that fails in the same way and in which no call returns in a
    /// step of its own; `seen` has the flags for that then.
    pub(super) fn without_returns(
        &mut self,
        seen: &mut Seen,
        failure: &Failure,
        trace: Trace,
    ) -> Result<Trace> {
        let wanted = seen.job.flags & flags::RETURNS != 0 && self.wishes.shrink.executions > 0;
        if !wanted || trace.events.is_empty() {
            return Ok(trace);
        }
        let before = seen.job.clone();
        seen.job.flags &= !flags::RETURNS;
        let steps = others(&trace.events);
        // What was cut off is to be cut off at the same place.
        if trace.outcome.end == End::StepLimit {
            seen.job.max_steps = total_steps(&steps);
        }
        let records = flags::TOLERANT | flags::EVENTS | records_for(failure, &steps);
        let run = self.rerun(&seen.job, &steps, records)?;
        let same = self.is_same(run.as_ref(), seen, failure)?;
        if let Some(run) = run.filter(|_| same) {
            return Ok(run);
        }
        seen.job = before;
        Ok(trace)
    }
}

/// The schedule of all other steps, and the choices.
fn others(events: &[Event]) -> Vec<Step> {
    schedule_of(events, |_, kind| kind.is_step() && kind != Kind::Return)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::triage::record;

    #[test]
    fn only_returns_are_left_out() {
        let events = [
            record(Kind::ThreadCreate, 0, 1),
            record(Kind::Return, 0, 0),
            record(Kind::CondSignal, 0, 0),
            record(Kind::Choice, 0, 1),
            record(Kind::Return, 0, 0),
            record(Kind::Enabled, 0, 0),
            record(Kind::ThreadStart, 1, 0),
        ];
        let expected = [Step::thread(0, 2), Step::choice(1), Step::thread(1, 1)];
        assert_eq!(others(&events), expected);
    }
}
