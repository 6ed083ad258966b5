//! What a step does in another context, a subset of an execution's steps in their order: that decides
//! its footprint there ([`raddle_protocol::conflict`]).

use super::enabled::Locks;
use super::execution::{Execution, Step};
use raddle_protocol::conflict::Unrecorded;
use raddle_protocol::event::{Event, Kind, RW_WRITERS_FIRST, SIGNAL_OWN};
use raddle_protocol::slot;
use raddle_protocol::update::Operands;

/// A context: exactly these steps of `execution` have happened.
pub struct Context<'a> {
    pub execution: &'a Execution,
    pub locks: &'a Locks,
    /// Those that may touch what the step in question touches, last first.
    pub near: &'a [usize],
    /// The step that conflicts with it and is lacking; `None`: all have happened, and what it would
    /// find is recorded.
    pub lacking: Option<usize>,
    pub holds: &'a dyn Fn(usize) -> bool,
}

const BUSY: u64 = 16;
const AGAIN: u64 = 11;
const TIMED_OUT: u64 = 110;
/// Of a robust mutex whose owner died; others may take it before somebody gives it up so.
const NOT_RECOVERABLE: u64 = 131;

impl Context<'_> {
    /// The record that `step` would leave, as far as it decides what that conflicts with, and whether
    /// it would leave memory as it was. Where that cannot be known, it changes what it may change.
    pub fn seen(&self, step: &Step) -> (Event, Unrecorded) {
        let mut event = step.event;
        let idle = match (self.lacking, step.operands) {
            (Some(lacking), Some((operands, _))) => {
                let content = self.content(step, lacking);
                content.is_some_and(|content| operands.leaves(content, Operands::size_of(&event)))
            }
            _ => step.beside.idle,
        };
        let beside = Unrecorded {
            idle,
            ..step.beside
        };
        if let Some(value) = self.result(step) {
            event.value = value;
        }
        if event.kind() == Some(Kind::SemPost)
            && let Some(count) = self.locks.count(event.object, self.holds)
        {
            event.aux = count.saturating_add(1);
        }
        // The signal may have another action there.
        if self.lacking.is_some()
            && matches!(event.kind(), Some(Kind::SignalSend | Kind::SignalHandler))
        {
            event.aux &= !SIGNAL_OWN;
        }
        (event, beside)
    }

    /// `None`: the same as it was.
    fn result(&self, step: &Step) -> Option<u64> {
        let event = &step.event;
        let (me, at) = (step.thread, event.object);
        let holders = || self.locks.holders(self.execution, at, self.holds);
        let refused = [BUSY, AGAIN, TIMED_OUT, NOT_RECOVERABLE].contains(&event.value);
        let attempt = |refuses: bool, refusal: u64| match refuses {
            true => Some(refusal),
            false => refused.then_some(0),
        };
        match event.kind()? {
            Kind::MutexLock => (event.value == NOT_RECOVERABLE).then_some(0),
            Kind::MutexTryLock | Kind::MutexTimedLock | Kind::SpinTryLock => {
                let holders = holders();
                match holders.writer.contains(&me) {
                    true => None,
                    false => attempt(!holders.writer.is_empty(), BUSY),
                }
            }
            Kind::RwTryRead | Kind::RwRead => {
                let holders = holders();
                match holders.writer.contains(&me) {
                    true => None,
                    false => attempt(holders.bar_readers(), TIMED_OUT),
                }
            }
            Kind::RwWrite if event.aux & RW_WRITERS_FIRST != 0 => None,
            Kind::RwTryWrite | Kind::RwWrite => {
                let holders = holders();
                let free = holders.writer.is_empty() && holders.readers.is_empty();
                attempt(!free, TIMED_OUT)
            }
            Kind::SemTryWait | Kind::SemTimedWait => {
                attempt(self.locks.count(at, self.holds)? == 0, AGAIN)
            }
            Kind::CondSignal => match self.somebody_waits(at) {
                false => Some(u64::from(slot::NONE)),
                true if event.value == u64::from(slot::NONE) => Some(0),
                true => None,
            },
            Kind::CondBroadcast => Some(u64::from(self.somebody_waits(at))),
            Kind::FutexWake if event.size == 0 => Some(u64::from(self.somebody_sleeps(at))),
            Kind::OnceEnter => {
                let was = event.value == 0 && self.lacking.is_some();
                Some(u64::from(!self.is_done(at, was)))
            }
            _ => None,
        }
    }

    fn steps(&self) -> impl Iterator<Item = &Step> + '_ {
        let all = self.execution.steps.iter().enumerate();
        all.filter(|&(k, _)| (self.holds)(k)).map(|(_, step)| step)
    }

    /// Does somebody wait for the condition?
    fn somebody_waits(&self, condition: u64) -> bool {
        let mut queue = Vec::new();
        for step in self.steps().filter(|s| s.event.object == condition) {
            match step.event.kind() {
                // One that ends for no reason has left the queue.
                Some(Kind::CondWait) if step.picks.iter().all(|pick| pick.value == 0) => {
                    queue.push(step.thread);
                }
                Some(Kind::CondSignal) => queue.retain(|&s| u64::from(s) != step.event.value),
                Some(Kind::CondBroadcast) => queue.clear(),
                Some(Kind::CondWake | Kind::CondLeave) => queue.retain(|&s| s != step.thread),
                _ => {}
            }
        }
        !queue.is_empty()
    }

    /// May somebody wait at the futex?
    fn somebody_sleeps(&self, word: u64) -> bool {
        let mut queue = Vec::new();
        for step in self.steps() {
            let event = &step.event;
            match event.kind() {
                Some(Kind::FutexWait | Kind::FutexWake | Kind::FutexResume) if event.size != 0 => {
                    return true;
                }
                Some(Kind::FutexWait) if event.object == word && event.value == 0 => {
                    queue.push(step.thread);
                }
                Some(Kind::FutexWake) if event.object == word => {
                    queue.drain(..queue.len().min(event.value as usize));
                }
                Some(Kind::FutexResume) => queue.retain(|&s| s != step.thread),
                _ => {}
            }
        }
        !queue.is_empty()
    }

    /// Has the routine of a once control run? `was`: it had, where the step was seen.
    fn is_done(&self, control: u64, was: bool) -> bool {
        let here = |step: &&Step| step.event.object == control;
        let done = |step: &Step| step.event.kind() == Some(Kind::OnceDone) && step.event.value == 0;
        let enters =
            |step: &Step| step.event.kind() == Some(Kind::OnceEnter) && step.event.value == 1;
        // Nobody was seen to run it: it was done before.
        let before = || was && !self.execution.steps.iter().filter(here).any(enters);
        self.steps().filter(here).any(done) || before()
    }

    /// What the bytes hold that `access` looks at.
    fn content(&self, access: &Step, lacking: usize) -> Option<u64> {
        let (at, size) = (access.event.object, Operands::size_of(&access.event));
        let here = &self.execution.steps[lacking];
        // Whatever changed one of its bytes since has come after it, and is lacking too.
        if (here.event.object, Operands::size_of(&here.event)) == (at, size)
            && let Some(content) = found(here)
        {
            return Some(content);
        }
        let mut bytes: [Byte; 8] = [Byte::Unseen; 8];
        let bytes = bytes.get_mut(..size as usize)?;
        for &k in self.near.iter().rev() {
            let step = &self.execution.steps[k];
            let holds = (self.holds)(k);
            // The first one that is lacking found what all before it had left.
            let tells = if holds { left(step) } else { found(step) };
            let known = tells.map_or([0; 8], u64::to_le_bytes);
            let covers = tells.map_or(0, |_| Operands::size_of(&step.event).min(8));
            for (n, byte) in bytes.iter_mut().enumerate() {
                let here = at + n as u64;
                let place = here.wrapping_sub(step.event.object);
                let told = (place < u64::from(covers)).then(|| known[place as usize]);
                *byte = match (told, *byte) {
                    (Some(value), _) if holds => Byte::Is(value),
                    (Some(value), Byte::Unseen) => Byte::Is(value),
                    (None, _) if holds && changes(step, here) => Byte::Unknown,
                    (None, Byte::Unseen) if changes(step, here) => Byte::Unknown,
                    (_, before) => before,
                };
            }
        }
        let own = found(access).map(u64::to_le_bytes);
        let mut content = [0; 8];
        for (n, byte) in bytes.iter().enumerate() {
            content[n] = match byte {
                Byte::Is(value) => *value,
                // Nobody has touched it: it is as the access found it.
                Byte::Unseen => own?[n],
                Byte::Unknown => return None,
            };
        }
        Some(u64::from_le_bytes(content))
    }
}

/// What is known of a byte.
#[derive(Clone, Copy)]
enum Byte {
    /// As it was before all steps that were looked at.
    Unseen,
    Is(u8),
    Unknown,
}

/// May the step change the byte at `at` in a way that its record does not say?
fn changes(step: &Step, at: u64) -> bool {
    let writes = step
        .plain
        .parts
        .iter()
        .any(|part| part.is_written_in(at, at + 1));
    let ends_all = step.event.kind() == Some(Kind::ProcessEnd);
    writes || (super::races::ends(&step.plain) && !ends_all)
}

/// What an access of at most eight bytes found, if the records say so.
fn found(step: &Step) -> Option<u64> {
    let event = &step.event;
    match event.kind()? {
        Kind::Read | Kind::AtomicRead if event.size <= 8 => Some(event.value),
        Kind::Write | Kind::AtomicWrite | Kind::Rmw | Kind::FutexWait => step.operands?.1,
        _ => None,
    }
}

/// What such an access left.
fn left(step: &Step) -> Option<u64> {
    let event = &step.event;
    match event.kind()? {
        Kind::Write | Kind::AtomicWrite | Kind::Rmw if event.size <= 8 => Some(event.value),
        _ => found(step),
    }
}
