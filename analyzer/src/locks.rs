//! Lock-order inversions: threads that, in one execution, took locks in orders that would have
//! made a deadlock had they met, in the manner of Goodlock (Havelund, SPIN 2000) as refined for
//! cycles of any length by Agarwal, Wang and Stoller (PADTAD 2005).
//!
//! A cycle is left out where a lock that all hold ("gate") or the order of creation, joins,
//! barriers, semaphores and the like keeps its threads apart. What is left is a prediction:
//! [`crate::direct::toward_cycle`] says how to try it.

use crate::races::clock::Clock;
use crate::races::order::{Order, acquired};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use std::collections::{HashMap, HashSet};

/// A lock that a thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Held {
    pub lock: u64,
    /// Index of the event by which it was taken.
    pub event: usize,
    /// Of the place.
    pub pc: u64,
    /// As a reader.
    pub shared: bool,
}

/// A thread took a lock while it held others.
#[derive(Clone, Debug)]
pub struct Nested {
    pub thread: Slot,
    /// What it took.
    pub wanted: Held,
    /// What it held.
    pub held: Vec<Held>,
    number: u32,
    clock: Clock,
}

/// Threads each of which takes a lock that the next one holds, the last one the first one's.
#[derive(Clone, Debug)]
pub struct Cycle(pub Vec<Nested>);

impl Cycle {
    /// The same for the same places, whatever the threads and whoever is named first.
    pub fn key(&self) -> Vec<(u64, u64)> {
        let n = self.0.len();
        let place = |i: usize| {
            let (this, next) = (&self.0[i], &self.0[(i + n - 1) % n]);
            let taken = this.held.iter().find(|h| h.lock == next.wanted.lock);
            (taken.map_or(0, |h| h.pc), this.wanted.pc)
        };
        let mut key: Vec<(u64, u64)> = (0..n).map(place).collect();
        key.sort_unstable();
        key
    }

    /// The lock that the `i`-th thread holds and the one before it wants.
    pub fn held(&self, i: usize) -> Option<&Held> {
        let n = self.0.len();
        let wanted = self.0[(i + n - 1) % n].wanted.lock;
        self.0[i].held.iter().find(|h| h.lock == wanted)
    }
}

/// Of an execution with more nested locks than this the first ones are looked at.
const MOST_NESTED: usize = 2000;
/// Of one thread at one place, with the same locks held, so many times are looked at that differ in
/// what came before.
const MOST_TIMES: usize = 16;
/// Longer cycles are not looked for.
const LONGEST: usize = 6;
/// Nor more of them in one execution.
const MOST_CYCLES: usize = 64;

/// The cycles of one execution, one for each set of places.
pub fn cycles(events: &[Event]) -> Vec<Cycle> {
    let nested = nested(events);
    let mut search = Search {
        nested: &nested,
        by_held: HashMap::new(),
        path: Vec::new(),
        seen: HashSet::new(),
        found: Vec::new(),
        steps: 0,
    };
    for (i, one) in nested.iter().enumerate() {
        for held in &one.held {
            search.by_held.entry(held.lock).or_default().push(i);
        }
    }
    for first in 0..nested.len() {
        search.path.push(first);
        search.extend();
        search.path.pop();
    }
    search.found
}

struct Search<'a> {
    nested: &'a [Nested],
    by_held: HashMap<u64, Vec<usize>>,
    path: Vec<usize>,
    seen: HashSet<Vec<(u64, u64)>>,
    found: Vec<Cycle>,
    steps: usize,
}

/// A search that has tried so many extensions ends.
const MOST_STEPS: usize = 1 << 18;

impl Search<'_> {
    /// Tries every way to go on behind the end of the path, or to close it.
    fn extend(&mut self) {
        let nested = self.nested;
        let first = &nested[self.path[0]];
        let last = &nested[self.path[self.path.len() - 1]];
        let holders = self.by_held.get(&last.wanted.lock).cloned();
        for next in holders.unwrap_or_default() {
            stop::point();
            self.steps += 1;
            if self.steps > MOST_STEPS || self.found.len() >= MOST_CYCLES {
                return;
            }
            let candidate = &nested[next];
            if self.path.len() > 1 && next == self.path[0] && last.wants_from(first) {
                self.close();
            }
            // The first of a cycle is the one with the lowest number.
            let fits = next > self.path[0]
                && self.path.len() < LONGEST
                && last.wants_from(candidate)
                && self.path.iter().all(|&i| nested[i].may_meet(candidate));
            if fits {
                self.path.push(next);
                self.extend();
                self.path.pop();
            }
        }
    }

    fn close(&mut self) {
        let cycle = Cycle(self.path.iter().map(|&i| self.nested[i].clone()).collect());
        if self.seen.insert(cycle.key()) {
            self.found.push(cycle);
        }
    }
}

impl Nested {
    /// Does `other` hold what this one takes, so that it would have to wait?
    fn wants_from(&self, other: &Nested) -> bool {
        let wanted = &self.wanted;
        let conflicts = |h: &&Held| h.lock == wanted.lock && !(h.shared && wanted.shared);
        other.held.iter().any(|h| conflicts(&h))
    }

    /// Could the two threads stand before these locks at the same time?
    fn may_meet(&self, other: &Nested) -> bool {
        let gate = self.held.iter().any(|a| {
            let common = |b: &Held| a.lock == b.lock && !(a.shared && b.shared);
            other.held.iter().any(common)
        });
        let before = |a: &Nested, b: &Nested| b.clock.of(a.number) >= a.clock.of(a.number);
        self.thread != other.thread && !gate && !before(self, other) && !before(other, self)
    }
}

/// What an event does to a lock.
enum Change {
    Takes { blocking: bool, shared: bool },
    Gives,
    Nothing,
}

fn change(kind: Kind, event: &Event) -> Change {
    use Kind::*;
    let takes = |blocking, shared| match acquired(event.value) {
        true => Change::Takes { blocking, shared },
        false => Change::Nothing,
    };
    match kind {
        MutexLock | RwWrite | SpinLock => takes(true, false),
        RwRead => takes(true, true),
        MutexTryLock | MutexTimedLock | RwTryWrite | SpinTryLock => takes(false, false),
        RwTryRead => takes(false, true),
        MutexUnlock | RwUnlock | SpinUnlock if event.value == 0 => Change::Gives,
        _ => Change::Nothing,
    }
}

/// What each thread holds at the end of an execution, in the order in which it was taken; recursive
/// locks as often as they are held.
pub fn held(events: &[Event]) -> HashMap<Slot, Vec<Held>> {
    let mut threads: HashMap<Slot, Locks> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        stop::point();
        let Some(kind) = event.kind().filter(|kind| kind.is_step()) else {
            continue;
        };
        let locks = threads.entry(event.thread).or_default();
        if let Some((taken, _)) = locks.step(kind, event, index) {
            locks.held.push(taken);
        }
    }
    let held = threads
        .into_iter()
        .map(|(thread, locks)| (thread, locks.held));
    held.collect()
}

/// Every place at which a thread took a lock, and could have had to wait, with others held; again
/// where something has come before that orders threads otherwise (as its creation does for a thread
/// that cannot have met the one before).
fn nested(events: &[Event]) -> Vec<Nested> {
    let mut order = Order::without_locks();
    let mut threads: HashMap<Slot, Locks> = HashMap::new();
    let mut seen: HashMap<_, Vec<Clock>> = HashMap::new();
    let mut all = Vec::new();
    for (index, event) in events.iter().enumerate() {
        stop::point();
        let Some(kind) = event.kind().filter(|kind| kind.is_step()) else {
            continue;
        };
        if is_plain_access(kind) {
            continue;
        }
        order.step(kind, event);
        let locks = threads.entry(event.thread).or_default();
        let Some((wanted, blocking)) = locks.step(kind, event, index) else {
            continue;
        };
        let again = locks.held.iter().any(|h| h.lock == wanted.lock);
        if blocking && !again && !locks.held.is_empty() && all.len() < MOST_NESTED {
            let places: Vec<(u64, u64)> = locks.held.iter().map(|h| (h.lock, h.pc)).collect();
            let number = order.number(event.thread);
            let clock = order.clock(number);
            let times = seen.entry((event.thread, wanted.lock, wanted.pc, places));
            let times = times.or_default();
            if times.len() < MOST_TIMES && times.last() != Some(clock) {
                times.push(clock.clone());
                all.push(Nested {
                    thread: event.thread,
                    wanted,
                    held: locks.held.clone(),
                    number,
                    clock: clock.clone(),
                });
            }
        }
        locks.held.push(wanted);
    }
    all
}

/// Accesses that are not atomic order nothing by themselves: that they came in this order is owed
/// to the locks around them, or to nothing.
fn is_plain_access(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Read | Kind::Write | Kind::ReadRange | Kind::WriteRange | Kind::StateUse
    )
}

/// The locks of one thread.
#[derive(Default)]
struct Locks {
    /// In the order in which they were taken; recursive ones as often as they are held.
    held: Vec<Held>,
    /// Mutexes that condition waits gave up.
    waiting: Vec<u64>,
}

impl Locks {
    /// Notes what a step of the thread gives up. What it takes, and whether it would have waited
    /// for that, is left to the caller to note.
    fn step(&mut self, kind: Kind, event: &Event, index: usize) -> Option<(Held, bool)> {
        let (lock, blocking, shared) = match (kind, change(kind, event)) {
            (Kind::CondWait, _) => {
                self.waits(event.value);
                return None;
            }
            (Kind::CondWake, _) => (self.waiting.pop()?, true, false),
            (_, Change::Takes { blocking, shared }) => (event.object, blocking, shared),
            (_, Change::Gives) => {
                self.gives(event.object);
                return None;
            }
            (_, Change::Nothing) => return None,
        };
        let held = Held {
            lock,
            event: index,
            pc: event.pc,
            shared,
        };
        Some((held, blocking))
    }

    fn gives(&mut self, lock: u64) {
        if let Some(at) = self.held.iter().rposition(|h| h.lock == lock) {
            self.held.remove(at);
        }
    }

    fn waits(&mut self, mutex: u64) {
        self.gives(mutex);
        self.waiting.push(mutex);
    }
}

#[cfg(test)]
#[path = "locks_tests.rs"]
mod tests;
