//! What an execution shows besides its end: races, locks taken in orders that may meet, threads
//! left behind.

use crate::class::{Class, Meaning, meaning};
use clap::ValueEnum;
use raddle_analyzer::leaks::{Leak, leaks};
use raddle_analyzer::locks::{Cycle, cycles};
use raddle_analyzer::races::{self, Race};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;

/// What becomes of a race or of a thread that was left behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Treatment {
    /// It is reported; the run goes on and does not fail for it.
    Report,
    /// It is a finding like any other.
    Fail,
    /// It is not looked for.
    Off,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    pub races: Treatment,
    pub leaks: Treatment,
    pub lock_order: bool,
}

/// The first executions are all looked at …
const DENSE: u64 = 64;
/// … then one in so many: what they show depends little on the schedule.
const SPARSE: u64 = 16;
/// Longer executions are not looked at, except the first of them.
pub const MOST_STEPS: u64 = 2_000_000;

impl Watch {
    /// Nothing is looked for.
    pub const OFF: Watch = Watch {
        races: Treatment::Off,
        leaks: Treatment::Off,
        lock_order: false,
    };

    /// The flags for execution number `n`, from 0.
    pub fn flags(&self, n: u64) -> u32 {
        let wanted = *self != Watch::OFF && (n < DENSE || n.is_multiple_of(SPARSE));
        if wanted { flags::EVENTS } else { 0 }
    }

    /// What becomes of findings of this class.
    pub fn treatment(&self, class: Class) -> Treatment {
        match class {
            Class::Race => self.races,
            Class::Leak => self.leaks,
            _ => Treatment::Fail,
        }
    }

    /// What this execution shows.
    pub fn marks(&self, trace: &Trace) -> Vec<Mark> {
        let counts = matches!(meaning(&trace.outcome), Meaning::Fine | Meaning::Finding(_));
        if !counts || trace.events.is_empty() {
            return Vec::new();
        }
        let mut marks = Vec::new();
        for class in [Class::Race, Class::Leak] {
            if self.treatment(class) != Treatment::Off {
                marks.extend(of_class(class, trace));
            }
        }
        if self.lock_order {
            marks.extend(cycles(&trace.events).into_iter().map(Mark::Cycle));
        }
        marks
    }
}

/// All that a trace with records shows of one of the classes race and leak.
pub fn of_class(class: Class, trace: &Trace) -> Vec<Mark> {
    let exited = trace.outcome.end == End::Exit && !trace.outcome.timed_out;
    match class {
        Class::Race => races::distinct(&trace.events)
            .into_iter()
            .map(Mark::Race)
            .collect(),
        Class::Leak if exited => leaks(&trace.events).into_iter().map(Mark::Leak).collect(),
        _ => Vec::new(),
    }
}

/// Something that an execution shows.
#[derive(Clone, Debug)]
pub enum Mark {
    Race(Race),
    Leak(Leak),
    Cycle(Cycle),
}

/// The same for marks that are made by the same instructions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Race(u64, u64),
    Leak(u64),
    Cycle(Vec<(u64, u64)>),
}

impl Mark {
    pub fn class(&self) -> Class {
        match self {
            Mark::Race(_) => Class::Race,
            Mark::Leak(_) => Class::Leak,
            Mark::Cycle(_) => Class::Deadlock,
        }
    }

    /// See [`Key`].
    pub fn key(&self, trace: &Trace) -> Key {
        match self {
            Mark::Race(race) => Key::Race(race.key().0, race.key().1),
            Mark::Leak(leak) => Key::Leak(trace.events[leak.created].pc),
            Mark::Cycle(cycle) => Key::Cycle(cycle.key()),
        }
    }
}
