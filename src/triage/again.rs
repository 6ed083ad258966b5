//! Is what a witness says seen again when its schedule is run? Nothing is told as replayable before.

use super::{Seen, Triage, witness_records};
use crate::describe::Failure;
use crate::error::Result;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::trace::Trace;

impl Triage<'_> {
    /// An execution whose simplified schedule came to another end, with all that a witness records; does
    /// it fail in the same way then?
    pub(super) fn as_found(
        &mut self,
        seen: &Seen,
        failure: &Failure,
        again: Trace,
    ) -> Result<(Trace, bool)> {
        let steps = again.taken.clone();
        let full = self.rerun(&seen.job, &steps, witness_records(&steps))?;
        Ok(match full {
            Some(full) if self.is_same(Some(&full), seen, failure)? => (full, true),
            // It has come about twice, and lacks no more than some records.
            None if self.interrupt.everything.is_set() => (again, true),
            _ => (again, false),
        })
    }

    /// Does the execution of which a witness is made come about again, step by step, in a process of its
    /// own, as whoever replays the witness will see it? What was stopped is not told as something else.
    pub(super) fn replays(
        &mut self,
        seen: &Seen,
        failure: &Failure,
        trace: &Trace,
    ) -> Result<bool> {
        let records = witness_records(&trace.taken);
        let Some(again) = self.rerun(&seen.job, &trace.taken, records)? else {
            return Ok(true);
        };
        let steps = |trace: &Trace| -> Vec<_> {
            let is_step = |e: &&Event| e.kind().is_some_and(Kind::is_step);
            let steps = trace.events.iter().filter(is_step);
            steps.map(|e| (e.kind, e.thread, e.pc)).collect()
        };
        Ok(steps(&again) == steps(trace) && self.is_same(Some(&again), seen, failure)?)
    }
}
