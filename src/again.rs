//! Does an execution that is run again when all have been run go as it did at first? Executions share what
//! lies outside of the program: a file that one leaves behind is there for the next.

use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::Job;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;
use raddle_protocol::trace::Trace;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What a verdict about all executions says where it does not.
pub const CHANGED: &str = "the first execution went another way when it was run again at the end: what \
                           it depends on, such as a file, was changed by the executions in between";

/// An execution, and the way that it went.
pub struct Before {
    pub job: Job,
    way: Way,
}

/// How it ended, which steps were chosen, and a hash of what the threads did and found. (What calls use of what
/// the library keeps is no part of that: to make a file and to empty one differ there, for nobody else.)
#[derive(PartialEq, Eq)]
struct Way {
    end: (End, i32),
    taken: Vec<Step>,
    done: u64,
}

impl Way {
    fn of(trace: &Trace) -> Way {
        let mut hash = DefaultHasher::new();
        for event in &trace.events {
            if matches!(
                event.kind(),
                Some(Kind::State | Kind::StateUse | Kind::Name)
            ) {
                continue;
            }
            let Event {
                thread,
                kind,
                object,
                value,
                ..
            } = event;
            (thread, kind, object, value).hash(&mut hash);
        }
        Way {
            end: (trace.outcome.end, trace.outcome.code),
            taken: trace.taken.clone(),
            done: hash.finish(),
        }
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

    /// Does the same job lead another way now?
    pub fn differs(&self, now: &Trace) -> bool {
        self.way != Way::of(now)
    }
}
