//! Executions that seem to have no end: do they come to one when every thread gets its turn?

use super::{Class, Result, Seen, Step, Triage, class_of, flags, place, total_steps};
use raddle_protocol::event::Kind;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Tail;
use raddle_protocol::trace::Outcome;
use std::collections::BTreeSet;
use std::sync::Arc;

/// So many executions that reach the limit of steps are run on to see whether they go round in
/// circles. Where none did, the others will not either, unless they look so.
const MOST_RUN_ON: u64 = 3;
/// What never ends does not end within so many fair steps either.
const FAIR_STEPS: u64 = 1_000_000;
/// Loops that seem to wait for ever, and do not, end within so many steps; and where such a livelock
/// was found before.
pub(super) const DOUBTED_STEPS: u64 = 200_000;
const DOUBTED_AGAIN_STEPS: u64 = 20_000;
/// The witness of a livelock holds so many steps.
const LIVELOCK_STEPS: u64 = 20_000;
/// What threads wait with that go round loops; others may be blocked.
const IN_LOOPS: [Kind; 9] = [
    Kind::Read,
    Kind::AtomicRead,
    Kind::Rmw,
    Kind::Fence,
    Kind::Yield,
    Kind::Return,
    Kind::MutexTryLock,
    Kind::SpinTryLock,
    Kind::SemTryWait,
];

/// What a livelock does when every thread gets its turn.
pub(super) enum Fair {
    GoesOn {
        /// All threads come back to the same states again and again.
        in_circles: bool,
    },
    Ends(Outcome),
    Fails(Box<Seen>),
}

impl Triage<'_> {
    /// Does this livelock end when it goes on fairly?
    pub(super) fn ends_anyway(&mut self, seen: &Seen) -> Result<Fair> {
        let outcome = &seen.trace.outcome;
        let looks_so = is_doubtful(seen) || is_long_way(seen) || goes_in_circles(outcome);
        if !looks_so && self.endless >= MOST_RUN_ON {
            return Ok(Fair::GoesOn { in_circles: false });
        }
        let known = match self.findings.is_empty() {
            true => false,
            false => {
                let failure = self.describe_in_depth(seen)?;
                let mut found = self.findings.iter();
                found.any(|f| f.fingerprint == failure.fingerprint)
            }
        };
        if known && is_long_way(seen) {
            // Only the limit of time would show it again.
            return Ok(Fair::GoesOn { in_circles: true });
        }
        // Others that were alike may have had no end: each is asked for itself.
        let doubted_steps = match known {
            true => DOUBTED_AGAIN_STEPS,
            false => DOUBTED_STEPS,
        };
        self.fairly(seen, &seen.trace.taken, doubted_steps)
    }

    /// Where the loops are that seem to wait for ever; nothing where only the limit of steps was
    /// reached.
    pub(super) fn loops(&mut self, seen: &Seen) -> Result<Vec<String>> {
        if !is_doubtful(seen) {
            return Ok(Vec::new());
        }
        let symbols = self.symbols()?;
        symbols.enter(&seen.trace.loaded);
        let waits = &seen.trace.outcome.waits;
        let goes_round = |kind: u8| Kind::from_u8(kind).is_some_and(|k| IN_LOOPS.contains(&k));
        let some = waits.iter().any(|w| goes_round(w.kind));
        let mut loops = BTreeSet::new();
        for wait in waits.iter().filter(|w| !some || goes_round(w.kind)) {
            let site = symbols.site(wait.pc);
            loops.insert(place(&symbols.sites()[site as usize]));
        }
        Ok(loops.into_iter().collect())
    }

    /// A schedule without end may only be unfair: one thread spins while the one that it waits
    /// for is never chosen; or it depends on what no hook tells, so that loops that seem to wait for
    /// ever do not. Does the execution end when it goes on fairly from here?
    pub(super) fn fairly(
        &mut self,
        seen: &Seen,
        taken: &[Step],
        doubted_steps: u64,
    ) -> Result<Fair> {
        let mut job = seen.job.clone();
        job.prefix = taken.to_vec();
        job.tail = Tail::Random { seed: 1 };
        job.flags |= flags::TOLERANT;
        // Who sleeps gets its turn.
        job.flags &= !flags::LAZY_TIME;
        match is_doubtful(seen) {
            true => {
                job.flags |= flags::DOUBT_SPINS;
                job.max_steps = total_steps(taken) + doubted_steps;
            }
            false => job.max_steps = job.max_steps.saturating_add(FAIR_STEPS),
        }
        if is_long_way(seen) {
            job.flags |= flags::LONG_WAYS;
        }
        if job.flags & flags::DOUBT_SPINS != 0 {
            // To be run, not to be searched.
            job.flags &= !flags::EXACT_SPINS;
        }
        let Some(trace) = self.run(&job)? else {
            return Ok(Fair::GoesOn { in_circles: false });
        };
        job.flags &= !flags::TOLERANT;
        Ok(match class_of(&trace, seen.expected_output()) {
            Some(Class::Livelock | Class::Timeout) => Fair::GoesOn {
                in_circles: goes_in_circles(&trace.outcome) || is_long_way(seen),
            },
            None => Fair::Ends(trace.outcome),
            Some(class) => Fair::Fails(Box::new(Seen {
                execution: seen.execution,
                class,
                job,
                trace: Arc::new(trace),
                reference: seen.reference.clone(),
            })),
        })
    }
}

/// Do threads seem to wait in loops for ever? (Under `verify` the compiler knows such loops.)
pub fn is_doubtful(seen: &Seen) -> bool {
    seen.trace.outcome.end == End::Livelock && seen.job.flags & flags::SYMBOLIC == 0
}

/// Has it come to a livelock, or at the limit of steps to states in which it had been often?
fn goes_in_circles(outcome: &Outcome) -> bool {
    !outcome.timed_out
        && match outcome.end {
            End::Livelock => true,
            End::StepLimit => outcome.detail[2] != 0,
            _ => false,
        }
}

/// Has one thread decided so often without a step that the limit was reached?
pub(super) fn is_long_way(seen: &Seen) -> bool {
    let outcome = &seen.trace.outcome;
    outcome.end == End::StepLimit && outcome.detail[1] != 0
}

/// The start of an execution without end says as much as millions of steps.
pub(super) fn cut_short(seen: &mut Seen) {
    let limit = match seen.job.max_steps {
        0 => LIVELOCK_STEPS,
        limit => limit.min(LIVELOCK_STEPS),
    };
    seen.job.max_steps = limit;
    let mut left = limit;
    Arc::make_mut(&mut seen.trace).taken.retain_mut(|step| {
        // Choices belong to the step before them and count for nothing themselves.
        if step.is_choice() {
            return left > 0;
        }
        step.count = u64::from(step.count).min(left) as u16;
        left -= u64::from(step.count);
        step.count > 0
    });
}
