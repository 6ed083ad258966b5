//! Sections of mutexes along the local paths.

use super::forest::{Forest, NodeId};
use super::insert::EDEADLK;
use super::places::Place;
use raddle_protocol::event::Kind;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Acquisitions of a mutex at one place, and the releases on the paths that go on from them.
#[derive(Clone, Debug, Default)]
pub struct Section {
    pub acquires: Vec<NodeId>,
    /// By place.
    pub releases: BTreeMap<Place, Vec<NodeId>>,
}

/// Sections of one mutex.
pub type Sections = BTreeMap<Place, Section>;

/// A mutex held at a position.
#[derive(Clone, Debug)]
struct Held {
    mutex: u64,
    acquired: Place,
    depth: u32,
}

/// All sections, and what is held where.
pub struct Locks {
    pub sections: BTreeMap<u64, Sections>,
    held: Vec<Rc<Vec<Held>>>,
}

/// Is this an operation that waits until the mutex is free?
pub fn waits(kind: Kind) -> bool {
    matches!(kind, Kind::MutexLock | Kind::SpinLock)
}

/// Is this an operation that takes the mutex if it is free?
pub fn tries(kind: Kind) -> bool {
    matches!(kind, Kind::MutexTryLock | Kind::SpinTryLock)
}

fn releases(kind: Kind) -> bool {
    matches!(kind, Kind::MutexUnlock | Kind::SpinUnlock)
}

impl Locks {
    /// Follows all paths.
    pub fn new(forest: &Forest) -> Locks {
        let mut locks = Locks {
            sections: BTreeMap::new(),
            held: Vec::with_capacity(forest.nodes.len()),
        };
        for (id, node) in (0..).zip(&forest.nodes) {
            // A parent stands before its children in the list.
            let held = match node.parent {
                None => Rc::default(),
                Some((parent, outcome)) => locks.after(forest, parent, outcome),
            };
            locks.held.push(held);
            if let Some(action) = node.action()
                && (waits(action.kind) || (tries(action.kind) && !node.is_stub()))
                && !locks.owns(id, action.object)
            {
                let sections = locks.sections.entry(action.object).or_default();
                let section = sections.entry(forest.place(id)).or_default();
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
        let mutex = action.object;
        let own = before.iter().position(|h| h.mutex == mutex);
        let acquired =
            waits(action.kind) && outcome != EDEADLK || tries(action.kind) && outcome == 0;
        let mut held = before.as_ref().clone();
        match own {
            Some(own) if acquired => held[own].depth += 1,
            None if acquired => held.push(Held {
                mutex,
                acquired: forest.place(id),
                depth: 1,
            }),
            Some(own) if releases(action.kind) => {
                held[own].depth -= 1;
                if held[own].depth == 0 {
                    let gone = held.remove(own);
                    let sections = self.sections.entry(mutex).or_default();
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

    /// Does the thread hold the mutex when it stands at the node?
    pub fn owns(&self, id: NodeId, mutex: u64) -> bool {
        self.held[id as usize].iter().any(|h| h.mutex == mutex)
    }
}
