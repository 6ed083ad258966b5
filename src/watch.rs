//! What an execution shows besides its end: races, locks taken in orders that may meet, threads
//! left behind.

use crate::class::{Class, Meaning, meaning};
use crate::summary::count;
use clap::ValueEnum;
use raddle_analyzer::fast::Multiply;
use raddle_analyzer::leaks::{Leak, leaks};
use raddle_analyzer::locks::{Cycle, cycles};
use raddle_analyzer::races::{self, Race, Subject};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use std::collections::HashSet;
use std::hash::Hasher;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

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

/// What becomes of a failure that needs a time-out to come early.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Weight {
    /// It is reported; the run goes on and does not fail for it.
    Report,
    /// It is a finding like any other.
    Fail,
}

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Watch {
    pub races: Treatment,
    pub leaks: Treatment,
    pub lock_order: bool,
    pub early_timeouts: Weight,
}

/// Longer executions are not looked at, except the first of them.
const MOST_STEPS: u64 = 2_000_000;

impl Watch {
    /// Nothing is looked for.
    pub const OFF: Watch = Watch {
        races: Treatment::Off,
        leaks: Treatment::Off,
        lock_order: false,
        early_timeouts: Weight::Fail,
    };

    /// Is anything looked for besides ends?
    fn looks(&self) -> bool {
        self.lock_order || [self.races, self.leaks] != [Treatment::Off; 2]
    }

    /// What becomes of findings of this class.
    pub fn treatment(&self, class: Class) -> Treatment {
        match class {
            Class::Race => self.races,
            Class::Leak => self.leaks,
            _ => Treatment::Fail,
        }
    }

    /// What this execution shows, from its records.
    fn marks(&self, trace: &Trace) -> Vec<Mark> {
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

/// However much time it takes, the first executions are all looked at …
const DENSE: u64 = 64;
/// … and then one in so many.
const SPARSE: u64 = 16;
/// Looking may take one part in so many of the time that running takes.
const SHARE: u32 = 4;
/// So many records are remembered as looked at.
const MOST_KNOWN: usize = 1 << 16;

/// Decides which executions of a run are looked at: all, unless that takes too much time.
#[derive(Debug)]
pub struct Lookout {
    watch: Watch,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Hashes of what was looked at, so that nothing is twice.
    known: HashSet<u64>,
    /// How long executions took, those that were not looked at too, and how long looking.
    running: Duration,
    looking: Duration,
    passed_over: u64,
    /// An execution was so long that no others are looked at.
    too_long: bool,
}

impl State {
    fn wants(&self, n: u64) -> bool {
        let sampled = n < DENSE || n.is_multiple_of(SPARSE);
        !self.too_long && (sampled || self.looking * SHARE <= self.running)
    }

    /// `false`: it is known already.
    fn remember(&mut self, hash: u64) -> bool {
        if self.known.len() >= MOST_KNOWN {
            self.known.clear();
        }
        self.known.insert(hash)
    }
}

impl Lookout {
    pub fn new(watch: Watch) -> Lookout {
        Lookout {
            watch,
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The flags for execution number `n`, from 0.
    pub fn flags(&self, n: u64) -> u32 {
        match self.watch.looks() && self.state().wants(n) {
            true => flags::EVENTS,
            false => 0,
        }
    }

    /// The records of an execution were too many to be kept. `false`: nobody wanted them.
    pub fn too_many_records(&self) -> bool {
        self.state().too_long = true;
        self.watch.looks()
    }

    /// What execution `n`, which took so long to run, shows besides its end, unless another one
    /// with the same records was looked at before.
    pub fn look(&self, n: u64, trace: &Trace, took: Duration) -> Vec<Mark> {
        if !self.watch.looks() {
            return Vec::new();
        }
        let started = Instant::now();
        {
            let mut state = self.state();
            state.running += took;
            if trace.events.is_empty() || !state.wants(n) {
                state.passed_over += 1;
                return Vec::new();
            }
            state.too_long |= trace.counters.steps > MOST_STEPS;
        }
        let hash = hash(trace);
        let marks = match self.state().remember(hash) {
            true => self.watch.marks(trace),
            false => Vec::new(),
        };
        self.state().looking += started.elapsed();
        marks
    }

    /// What was left out, for the summary.
    pub fn note(&self) -> Option<String> {
        let state = self.state();
        let why = match state.too_long {
            true => "some executions are too long",
            false => "it takes more than a quarter of the time that running takes",
        };
        (state.passed_over > 0).then(|| {
            format!(
                "races, orders of locks and leaked threads were not looked for in {}: {why}",
                count(state.passed_over, "execution")
            )
        })
    }
}

/// The same for executions that show the same.
fn hash(trace: &Trace) -> u64 {
    let mut hash = Multiply::default();
    for event in &trace.events {
        let head = [event.kind, event.size].map(u64::from);
        hash.write_u64(head[0] | head[1] << 8 | u64::from(event.thread) << 16);
        hash.write_u64(event.object);
        hash.write_u64(event.value ^ u64::from(event.aux).rotate_left(40));
        hash.write_u64(event.pc);
    }
    hash.write_u64(u64::from(trace.outcome.end as u32) | u64::from(trace.outcome.timed_out) << 32);
    hash.finish()
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

    /// How many executions that show it are looked into: of what may turn out to be in order by means
    /// that are not seen, more than one.
    pub fn attempts(&self) -> u32 {
        match self {
            Mark::Race(race) if race.subject != Subject::Memory => 3,
            _ => 1,
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
