//! Small inputs: a witness of `verify` shows what the failure needs, not what a solver came up
//! with.

use super::{Failure, Result, Seen, Trace, Triage, flags, records_for};
use raddle_analyzer::inputs::{MOST_CANDIDATES, minimise};
use raddle_protocol::event::Kind;
use raddle_protocol::job::Input;

impl Triage<'_> {
    /// Makes the inputs of a failing execution as small as the failure allows; its trace then.
    pub(super) fn with_small_inputs(
        &mut self,
        seen: &mut Seen,
        failure: &Failure,
        trace: Trace,
    ) -> Result<Trace> {
        if self.wishes.shrink.executions == 0 {
            return Ok(trace);
        }
        let mut best = trace;
        let mut tries = MOST_CANDIDATES;
        for index in 0..seen.job.inputs.len() {
            let bytes = seen.job.inputs[index].bytes.clone();
            let Some(value) = number(&bytes) else {
                continue;
            };
            let small = minimise(value, &mut tries, |candidate| {
                seen.job.inputs[index].bytes = candidate.to_le_bytes()[..bytes.len()].to_vec();
                let records = flags::TOLERANT | flags::EVENTS | records_for(failure, &best.taken);
                let run = self.rerun(&seen.job, &best.taken, records)?;
                let same = self.is_same(run.as_ref(), seen, failure)?;
                if let Some(run) = run.filter(|_| same) {
                    best = run;
                }
                Ok::<bool, crate::error::Error>(same)
            })?;
            seen.job.inputs[index].bytes = small.to_le_bytes()[..bytes.len()].to_vec();
        }
        Ok(best)
    }
}

/// Leaves out the inputs to which an execution with these records does not come.
pub(super) fn keep_asked(inputs: &mut Vec<Input>, trace: &Trace) {
    inputs.retain(|input| {
        let events = trace.events.iter().filter(|e| e.thread == input.thread);
        let asked = events.filter(|e| e.kind() == Some(Kind::Input)).count();
        asked > input.index as usize
    });
}

/// An input of a number's size, without its sign.
fn number(bytes: &[u8]) -> Option<u64> {
    let mut wide = [0; 8];
    wide.get_mut(..bytes.len())?.copy_from_slice(bytes);
    matches!(bytes.len(), 1 | 2 | 4 | 8).then(|| u64::from_le_bytes(wide))
}
