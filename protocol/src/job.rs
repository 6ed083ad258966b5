//! A job: everything that makes an execution repeatable.

use crate::Slot;
use crate::conflict::Footprint;
use crate::constraint::Constraint;
use crate::schedule::{Step, Tail};
use alloc::vec::Vec;

/// The bytes of one input (`raddle_symbolic` and its kin).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Who asks for it.
    pub thread: Slot,
    /// The how-many-th input of that thread, from 0.
    pub index: u32,
    /// Little-endian content. Inputs that a job does not list are zero.
    pub bytes: Vec<u8>,
}

/// Schedule, input, limits. Plain data: can be stored, shrunk, sent to another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Job {
    /// What to do first.
    pub prefix: Vec<Step>,
    /// What to do then.
    pub tail: Tail,
    /// See [`Input`].
    pub inputs: Vec<Input>,
    /// Address ranges known to be shared (first, one past the last); symbolic runs only.
    pub ranges: Vec<(u64, u64)>,
    /// Who is held back (at most [`crate::constraint::MOST`]); the taken steps repeat the execution
    /// without them.
    pub constraints: Vec<Constraint>,
    /// Who sleeps where the prefix ends: steps that were explored before (at most
    /// [`crate::conflict::MOST_SLEEPERS`]).
    pub sleepers: Vec<Footprint>,
    /// See [`crate::shared::flags`].
    pub flags: u32,
    /// End after so many steps; 0: no limit.
    pub max_steps: u64,
    /// Virtual wall clock at the start, in nanoseconds since 1970.
    pub clock_base: u64,
    /// Seed of everything random that the program asks the system for.
    pub entropy: u64,
}

impl Job {
    /// A job with an empty prefix, no inputs and default limits.
    pub fn new(tail: Tail) -> Job {
        Job {
            prefix: Vec::new(),
            tail,
            inputs: Vec::new(),
            ranges: Vec::new(),
            constraints: Vec::new(),
            sleepers: Vec::new(),
            flags: crate::shared::flags::ACCESSES,
            max_steps: 0,
            clock_base: 1_700_000_000_000_000_000,
            entropy: 0,
        }
    }
}

/// Appends `what` once to a run-length coded schedule.
pub fn push_step(steps: &mut Vec<Step>, what: u16) {
    match steps.last_mut() {
        Some(last) if last.what == what && !last.is_choice() && last.count < u16::MAX => {
            last.count += 1
        }
        _ => steps.push(Step { what, count: 1 }),
    }
}

/// How many single steps a run-length coded schedule has.
pub fn total_steps(steps: &[Step]) -> u64 {
    steps.iter().map(|s| u64::from(s.count)).sum()
}
