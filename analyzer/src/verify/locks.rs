//! Sections of locks along the local paths: mutexes, spin locks, read-write locks, and the mutexes
//! that waits for conditions give up and take back, and words that are used as locks (`word_locks`).

use super::forest::{Action, Forest, NodeId};
use super::kinds::{EBUSY, EDEADLK, ETIMEDOUT, LEFT};
use super::places::Place;
use super::word_locks::{Words, words};
use raddle_protocol::event::Kind;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Where a lock is taken, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    pub place: Place,
    /// For reading, together with others.
    pub shared: bool,
}

/// Acquisitions of a lock at one place, and the releases on the paths that go on from them.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub acquires: Vec<NodeId>,
    /// By place.
    pub releases: BTreeMap<Place, Vec<NodeId>>,
}

/// Sections of one lock.
pub type Sections = BTreeMap<Entry, Section>;

/// A lock held at a position.
#[derive(Clone, Debug)]
struct Held {
    lock: u64,
    acquired: Entry,
    depth: u32,
}

/// All sections, and what is held where.
pub struct Locks {
    pub sections: BTreeMap<u64, Sections>,
    pub words: Words,
    held: Vec<Rc<Vec<Held>>>,
}

/// How an operation takes a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// It waits until the lock is free.
    Waits,
    /// It takes the lock if it is free and has this result if not.
    Tries(u64),
}

/// The lock that an operation takes or gives up.
pub fn lock_of(action: &Action) -> u64 {
    match action.kind {
        Kind::CondWait | Kind::CondWake => action.value,
        _ => action.object,
    }
}

/// Is the lock taken for reading?
fn shares(kind: Kind) -> bool {
    matches!(kind, Kind::RwRead | Kind::RwTryRead)
}

/// How this step takes a lock; `None`: it takes none.
pub fn taking(forest: &Forest, id: NodeId) -> Option<Taking> {
    let action = forest.node(id).action()?;
    let timed = action.timed();
    match action.kind {
        Kind::MutexLock | Kind::SpinLock => Some(Taking::Waits),
        Kind::RwRead | Kind::RwWrite if !timed => Some(Taking::Waits),
        Kind::RwRead | Kind::RwWrite | Kind::MutexTimedLock => Some(Taking::Tries(ETIMEDOUT)),
        Kind::MutexTryLock | Kind::SpinTryLock | Kind::RwTryRead | Kind::RwTryWrite => {
            Some(Taking::Tries(EBUSY))
        }
        Kind::CondWake if timed => Some(Taking::Tries(LEFT)),
        Kind::CondWake => Some(Taking::Waits),
        _ => None,
    }
}

fn releases(kind: Kind) -> bool {
    use Kind::{CondWait, MutexUnlock, RwUnlock, SpinUnlock};
    matches!(kind, MutexUnlock | SpinUnlock | RwUnlock | CondWait)
}

impl Locks {
    /// Follows all paths.
    pub fn new(forest: &Forest) -> Locks {
        let mut locks = Locks {
            sections: BTreeMap::new(),
            words: words(forest),
            held: Vec::with_capacity(forest.nodes.len()),
        };
        for (id, node) in (0..).zip(&forest.nodes) {
            // A parent stands before its children in the list.
            let held = match node.parent {
                None => Rc::default(),
                Some((parent, outcome)) => locks.after(forest, parent, outcome),
            };
            let held = locks.with_words(forest, id, held);
            locks.held.push(held);
            let Some(action) = node.action() else {
                continue;
            };
            // Also a step that was never executed: others may come after it in the same execution.
            let takes = taking(forest, id).is_some() || locks.words.takes.contains(&id);
            if takes && !locks.owns(id, lock_of(action)) {
                let sections = locks.sections.entry(lock_of(action)).or_default();
                let section = sections.entry(entry(forest, id, action)).or_default();
                section.acquires.push(id);
            }
        }
        locks
    }

    /// What is held after an outcome of a node.
    fn after(&mut self, forest: &Forest, id: NodeId, outcome: u64) -> Rc<Vec<Held>> {
        let before = self.held[id as usize].clone();
        let Some(action) = forest.node(id).action() else {
            return before;
        };
        let lock = lock_of(action);
        let own = before.iter().position(|h| h.lock == lock);
        let acquired = match taking(forest, id) {
            Some(Taking::Waits) => outcome != EDEADLK,
            Some(Taking::Tries(_)) if action.kind == Kind::CondWake => outcome != LEFT,
            Some(Taking::Tries(_)) => outcome == 0,
            None => false,
        };
        let mut held = before.as_ref().clone();
        match own {
            Some(own) if acquired => held[own].depth += 1,
            None if acquired => held.push(Held {
                lock,
                acquired: entry(forest, id, action),
                depth: 1,
            }),
            Some(own) if releases(action.kind) || self.words.gives.contains(&id) => {
                held[own].depth -= 1;
                if held[own].depth == 0 {
                    let gone = held.remove(own);
                    let sections = self.sections.entry(lock).or_default();
                    let section = sections.entry(gone.acquired).or_default();
                    let list = section.releases.entry(forest.place(id)).or_default();
                    if !list.contains(&id) {
                        list.push(id);
                    }
                }
            }
            _ => return before,
        }
        Rc::new(held)
    }

    /// What is held at a node, with the words that the thread has taken if it comes there.
    fn with_words(&self, forest: &Forest, id: NodeId, held: Rc<Vec<Held>>) -> Rc<Vec<Held>> {
        let Some(steps) = self.words.taken.get(&id) else {
            return held;
        };
        let taken = steps.iter().filter_map(|&step| {
            let action = forest.node(step).action()?;
            Some(Held {
                lock: action.object,
                acquired: entry(forest, step, action),
                depth: 1,
            })
        });
        Rc::new(held.iter().cloned().chain(taken).collect())
    }

    /// The locks held when the thread stands at the node, and where they were taken.
    pub fn held(&self, id: NodeId) -> impl Iterator<Item = (u64, Entry)> {
        let held = self.held[id as usize].iter();
        held.map(|held| (held.lock, held.acquired))
    }

    /// Does the thread hold the lock when it stands at the node?
    pub fn owns(&self, id: NodeId, lock: u64) -> bool {
        self.section(id, lock).is_some()
    }

    /// The section of the lock in which the thread is when it stands at the node.
    pub fn section(&self, id: NodeId, lock: u64) -> Option<Entry> {
        let held = self.held[id as usize].iter().find(|h| h.lock == lock);
        held.map(|h| h.acquired)
    }
}

fn entry(forest: &Forest, id: NodeId, action: &Action) -> Entry {
    Entry {
        place: forest.place(id),
        shared: shares(action.kind),
    }
}
