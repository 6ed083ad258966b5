//! Plain exhaustive search over all schedules, the oracle for every cleverer policy.

use crate::search::{Next, Plan, Search, Standing};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::{CHOICE_BIT, Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;

/// Depth-first enumeration of all interleavings, from traces that hold
/// [`Kind::Enabled`] records.
///
/// Every scheduling decision and every [`Kind::Choice`] of an execution becomes a point with its
/// alternatives; the next prefix changes the last point that has an alternative left. Each
/// interleaving is asked for exactly once.
#[derive(Debug, Default)]
pub struct Dfs {
    points: Vec<Point>,
    started: bool,
    /// An execution is under way.
    out: bool,
    explored: bool,
    /// An execution came to nothing.
    lost: bool,
    mismatches: u64,
}

/// One decision of the current execution.
#[derive(Debug)]
struct Point {
    taken: u16,
    untried: Vec<u16>,
}

impl Dfs {
    /// Nothing is explored yet.
    pub fn new() -> Dfs {
        Dfs::default()
    }

    /// What to run next, as a prefix with the tail [`RunUntilBlocked`]; `None` when all
    /// interleavings are explored. Every prefix must be [observed](Dfs::observe) before the next
    /// one is asked for.
    ///
    /// [`RunUntilBlocked`]: raddle_protocol::schedule::Tail::RunUntilBlocked
    pub fn next_prefix(&mut self) -> Option<Vec<Step>> {
        if !self.started {
            self.started = true;
            return Some(Vec::new());
        }
        loop {
            let last = self.points.last_mut()?;
            if let Some(next) = last.untried.pop() {
                last.taken = next;
                break;
            }
            self.points.pop();
        }
        let mut prefix = Vec::new();
        for point in &self.points {
            push_step(&mut prefix, point.taken);
        }
        Some(prefix)
    }

    /// Learns the decisions of the execution that the last prefix led to.
    pub fn observe(&mut self, trace: &Trace) {
        let seen = points(&trace.events);
        let agrees = |(old, new): (&Point, &Point)| old.taken == new.taken;
        if seen.len() < self.points.len() || !self.points.iter().zip(&seen).all(agrees) {
            self.mismatches += 1;
            return;
        }
        let known = self.points.len();
        self.points.extend(seen.into_iter().skip(known));
    }

    /// How many executions did not follow their prefix: the program depends on something that is
    /// not controlled, and the enumeration is not exhaustive.
    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }
}

impl Search for Dfs {
    fn next(&mut self, _: u64) -> Next {
        if self.out {
            return Next::Wait;
        }
        match self.next_prefix() {
            Some(prefix) => {
                self.out = true;
                Next::Run(Plan {
                    prefix,
                    tail: Tail::RunUntilBlocked,
                    flags: flags::EVENTS | flags::ENABLED,
                })
            }
            None => {
                self.explored = true;
                Next::Done
            }
        }
    }

    fn observe(&mut self, _: u64, trace: &Trace) {
        self.out = false;
        Dfs::observe(self, trace);
    }

    fn lost(&mut self, _: u64) {
        self.out = false;
        self.lost = true;
    }

    fn standing(&self) -> Standing {
        Standing {
            complete: self.explored && !self.lost,
            mismatches: self.mismatches,
            ..Standing::default()
        }
    }
}

/// The decisions of one execution, in order.
fn points(events: &[Event]) -> Vec<Point> {
    let mut points = Vec::new();
    let mut enabled: Vec<u16> = Vec::new();
    for event in events {
        match event.kind() {
            Some(Kind::Enabled) => enabled.extend(event.enabled_slots()),
            Some(Kind::Choice) => {
                let taken = event.value as u16 | CHOICE_BIT;
                let all = (0..event.aux as u16).rev().map(|n| n | CHOICE_BIT);
                points.push(point(taken, all));
            }
            Some(kind) if kind.is_step() => {
                points.push(point(event.thread, enabled.drain(..).rev()));
            }
            _ => {}
        }
    }
    points
}

fn point(taken: u16, all: impl Iterator<Item = u16>) -> Point {
    Point {
        taken,
        untried: all.filter(|&x| x != taken).collect(),
    }
}
