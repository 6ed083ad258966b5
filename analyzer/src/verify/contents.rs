//! What semaphores, barriers and once controls hold at first, read off the records of an execution.

use super::forest::Forest;
use super::objects::{RETURNED, RUNNING, WIDTH};
use crate::inuse::{self, Held};
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use std::collections::{HashMap, HashSet};

/// Why the verdict is not the full one where a content changes without a step.
const AGAIN: &str = "a synchronisation object initialised again while in use";
/// Why the verdict is not the full one where a count is too large.
const LARGE: &str = "a count above 32767";

/// The contents along one execution.
#[derive(Default)]
pub struct Contents {
    known: HashMap<u64, u64>,
    /// Barriers and semaphores that were destroyed. Whoever is in the order of that is looked at by
    /// `hazards`, so nobody is left who waits: with the same content it is as if a barrier had not been
    /// destroyed, and as if the destruction of a semaphore had put back its first content.
    destroyed: HashSet<u64>,
    /// Locks and conditions that were used since they began: by whom (`None`: by several).
    users: HashMap<u64, Option<Slot>>,
    held: Held,
}

impl Contents {
    /// An object was initialised with this content: see [`Kind::Init`].
    pub fn initialised(&mut self, forest: &mut Forest, event: &Event) {
        let anew = self.destroyed.remove(&event.object);
        let known = self.known.insert(event.object, event.value);
        if known.is_some_and(|known| !anew || known != event.value) {
            forest.bounds_hit.insert(AGAIN);
        }
        first(forest, event.object, event.value);
    }

    /// A lock or a condition was initialised. What others have made of it is undone, unless it was
    /// destroyed.
    pub fn renewed(&mut self, forest: &mut Forest, event: &Event) {
        let users = self.users.remove(&event.object);
        if users.is_some_and(|by| by != Some(event.thread)) {
            forest.bounds_hit.insert(AGAIN);
        }
    }

    /// A step, which may show what its object held before it, and what after.
    pub fn step(&mut self, forest: &mut Forest, event: &Event, kind: Kind) {
        use Kind::*;
        match kind {
            RwRead | RwWrite | RwTryRead | RwTryWrite | RwUnlock | SpinLock | SpinTryLock
            | SpinUnlock | CondWait | CondSignal | CondBroadcast => {
                let me = Some(event.thread);
                let by = self.users.entry(event.object).or_insert(me);
                if *by != me {
                    *by = None;
                }
            }
            RwDestroy | SpinDestroy | CondDestroy => {
                self.users.remove(&event.object);
            }
            _ => {}
        }
        if let Kind::BarrierDestroy | Kind::SemDestroy = kind
            && event.value == 0
        {
            self.destroyed.insert(event.object);
            let first = forest.contents.get(&event.object);
            if let (Kind::SemDestroy, Some(&first)) = (kind, first) {
                self.known.insert(event.object, first);
            }
        }
        if self.held.step(event, kind) {
            forest.bounds_hit.insert(inuse::WRITTEN);
        }
        let Some((before, after)) = around(event, kind) else {
            return;
        };
        match self.known.insert(event.object, after) {
            None => first(forest, event.object, before),
            Some(known) if known != before => {
                forest.bounds_hit.insert(AGAIN);
            }
            Some(_) => {}
        }
    }
}

/// Every execution must begin with the same content.
fn first(forest: &mut Forest, object: u64, content: u64) {
    if content >= 1 << (WIDTH - 1) {
        forest.bounds_hit.insert(LARGE);
    }
    if *forest.contents.entry(object).or_insert(content) != content {
        forest.bounds_hit.insert(AGAIN);
    }
}

/// The content before and after a step, where its record tells.
fn around(event: &Event, kind: Kind) -> Option<(u64, u64)> {
    let count = u64::from(event.aux);
    match kind {
        Kind::SemPost if event.value == 0 => Some((count.wrapping_sub(1), count)),
        Kind::SemWait | Kind::SemTryWait | Kind::SemTimedWait if event.value == 0 => {
            Some((count + 1, count))
        }
        Kind::SemTryWait | Kind::SemTimedWait => Some((count, count)),
        Kind::SemGetValue => Some((event.value, event.value)),
        Kind::ExitNext => Some((event.value, event.value.saturating_sub(1))),
        Kind::AtExit => Some((event.value, event.value + 1)),
        Kind::OnceEnter if event.value == 1 => Some((0, RUNNING)),
        Kind::OnceEnter => Some((RETURNED, RETURNED)),
        Kind::OnceDone if event.value == 0 => Some((RUNNING, RETURNED)),
        Kind::OnceDone => Some((RUNNING, 0)),
        _ => None,
    }
}
