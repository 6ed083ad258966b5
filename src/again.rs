//! Does an execution that is run again when all have been run go as it did at first? Executions share what
//! lies outside of the program: a file that one leaves behind is there for the next.

use crate::report::place;
use crate::symbols::Symbols;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;
use raddle_protocol::trace::Trace;

/// So often it is run at most: where it goes once as it did, nothing outside has changed for good.
const TIMES: usize = 3;

/// Steps of an execution that are compared.
const MOST: usize = 100_000;

/// An execution, and the way that it went.
pub struct Before {
    job: Job,
    way: Way,
}

/// A step: what a thread did where, and the place in the program. With what value is no part of that: what a
/// thread finds in memory that nobody has written is of no account, and may differ.
#[derive(PartialEq, Eq)]
struct Done {
    thread: Slot,
    kind: u8,
    object: u64,
    pc: u64,
}

/// How it ended, which steps were chosen, and which there were. (What calls use of what the library keeps is no
/// part of that: to make a file and to empty one differ there, for nobody else.)
#[derive(PartialEq, Eq)]
struct Way {
    end: (End, i32),
    taken: Vec<Step>,
    done: Vec<Done>,
}

impl Way {
    fn of(trace: &Trace) -> Way {
        let is_shown = |event: &&Event| {
            let kind = event.kind();
            let kind = kind.filter(|kind| !matches!(kind, Kind::State | Kind::StateUse));
            kind.is_some_and(|kind| kind.is_step() || kind == Kind::Branch)
        };
        let shown = trace.events.iter().filter(is_shown).take(MOST);
        let done = shown.map(|event| Done {
            thread: event.thread,
            kind: event.kind,
            object: event.object,
            pc: event.pc,
        });
        Way {
            end: (trace.outcome.end, trace.outcome.code),
            taken: trace.taken.clone(),
            done: done.collect(),
        }
    }

    /// From where the first thing was called that is not as in `other`; 0: nobody knows.
    fn departs_at(&self, other: &Way) -> u64 {
        let mut pairs = self.done.iter().zip(&other.done);
        let same = pairs.position(|(one, other)| one != other);
        let same = same.unwrap_or(self.done.len().min(other.done.len()));
        let next = self.done.get(same).or(other.done.get(same));
        next.map_or(0, |next| next.pc)
    }
}

impl Before {
    /// This execution.
    pub fn of(job: &Job, trace: &Trace) -> Before {
        Before {
            job: job.clone(),
            way: Way::of(trace),
        }
    }

    /// What a verdict about all executions says if the job leads another way now, as `run` runs it; `None`: it
    /// does not, or could not be run.
    pub fn changed(
        &self,
        mut run: impl FnMut(&Job) -> Option<Trace>,
        symbols: impl FnOnce() -> Symbols,
    ) -> Option<String> {
        let mut departs_at = 0;
        for _ in 0..TIMES {
            let now = Way::of(&run(&self.job)?);
            if now == self.way {
                return None;
            }
            departs_at = self.way.departs_at(&now);
        }
        let place = match departs_at {
            0 => String::new(),
            pc => {
                let mut symbols = symbols();
                let site = symbols.site(pc);
                format!(", beginning at {}", place(&symbols.sites()[site as usize]))
            }
        };
        Some(format!(
            "the first execution went another way when it was run again at the end{place}: what it depends \
             on, such as a file, was changed by the executions in between"
        ))
    }
}
