//! What every search is: it says what to run next, and learns from what was run.

use crate::hapset::knowledge::Counted;
use raddle_protocol::conflict::Footprint;
use raddle_protocol::constraint::Constraint;
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::trace::Trace;

/// What to run: the part of a job that a search decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What to do first.
    pub prefix: Vec<Step>,
    /// What to do then.
    pub tail: Tail,
    /// Who is held back meanwhile, beyond the prefix.
    pub constraints: Vec<Constraint>,
    /// Added to the flags of the job ([`raddle_protocol::shared::flags`]).
    pub flags: u32,
    /// Who sleeps where the prefix ends (at most
    /// [`raddle_protocol::conflict::MOST_SLEEPERS`]).
    pub sleepers: Vec<Footprint>,
}

impl Plan {
    /// Only a rule; nothing is recorded beyond the taken steps.
    pub fn tail(tail: Tail) -> Plan {
        Plan {
            prefix: Vec::new(),
            tail,
            constraints: Vec::new(),
            flags: 0,
            sleepers: Vec::new(),
        }
    }
}

/// The answer to "what next?".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    Run(Plan),
    /// Nothing until an execution that is under way has been observed, or is lost.
    Wait,
    /// Never anything again.
    Done,
}

/// What may be claimed of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Everything was run that the search set out to run.
    pub complete: bool,
    /// Mazurkiewicz traces among the executions, where the search tells them apart.
    pub classes: Option<u64>,
    /// Executions that did not do what was asked of them: the program depends on something that is
    /// not controlled.
    pub mismatches: u64,
    /// What a complete search left out, as text: "at most 2 preemptions".
    pub bounds: Vec<String>,
    /// Other facts that limit what the verdict says, or that help to read it.
    pub notes: Vec<String>,
}

/// A search over the schedules of one program.
///
/// Executions have numbers, from 0, given by whoever drives the search. Several may be under way
/// at a time; they are observed in any order. With one at a time, the same search gives the same
/// plans again, whatever the time of day.
pub trait Search: Send {
    /// What execution `n` is to do. After [`Next::Run`] exactly one of [`Search::observe`] and
    /// [`Search::lost`] follows for `n`; after another answer `n` may be asked for again.
    fn next(&mut self, n: u64) -> Next;

    /// Learns what execution `n` did.
    fn observe(&mut self, n: u64, trace: &Trace);

    /// Execution `n` came to nothing, because the run is over; an exhaustive search has it still to
    /// do.
    fn lost(&mut self, n: u64);

    /// What may be claimed now.
    fn standing(&self) -> Standing;

    /// How many predecessor pairs executions have shown so far; `None` where the search does not
    /// look for them.
    fn pairs_seen(&self) -> Option<usize> {
        None
    }

    /// The predecessor pairs that executions have shown so far; nothing where the search does not
    /// look for them. To be kept as [`crate::hapset::knowledge::Knowledge`].
    fn pairs(&self) -> Vec<Counted> {
        Vec::new()
    }

    /// What a later search of the same name and seed needs to go on from here, as numbers in a form
    /// of its own. What is under way is to be run again then. `None` where nothing but the number of
    /// executions counts.
    fn save(&self) -> Option<Vec<u64>> {
        None
    }

    /// Goes on from what [`Search::save`] gave. `false`, and nothing has changed, where the numbers
    /// make no sense.
    fn restore(&mut self, saved: &[u64]) -> bool {
        let _ = saved;
        false
    }
}
