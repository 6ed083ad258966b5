//! Sections of mutexes along the local paths.

use super::forest::{Forest, NodeId};
use super::insert::EDEADLK;
use raddle_protocol::event::Kind;
use std::collections::BTreeMap;
use std::rc::Rc;

/// From one acquisition of a mutex to the releases on the paths that go on from it.
#[derive(Clone, Debug)]
pub struct Section {
    pub acquire: NodeId,
    pub releases: Vec<NodeId>,
}

/// A mutex held at a position.
#[derive(Clone, Debug)]
struct Held {
    mutex: u64,
    /// Index in the sections of the mutex.
    section: usize,
    depth: u32,
}

/// All sections, and what is held where.
pub struct Locks {
    pub sections: BTreeMap<u64, Vec<Section>>,
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
            let takes = node
                .action()
                .is_some_and(|a| waits(a.kind) || (tries(a.kind) && !node.is_stub()));
            locks.held.push(held);
            if let (true, Some(action)) = (takes, node.action())
                && !locks.owns(id, action.object)
            {
                let list = locks.sections.entry(action.object).or_default();
                list.push(Section {
                    acquire: id,
                    releases: Vec::new(),
                });
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
            None if acquired => {
                let list = self.sections.entry(mutex).or_default();
                let section = list.iter().position(|s| s.acquire == id).unwrap_or(0);
                held.push(Held {
                    mutex,
                    section,
                    depth: 1,
                });
            }
            Some(own) if releases(action.kind) => {
                held[own].depth -= 1;
                if held[own].depth == 0 {
                    let gone = held.remove(own);
                    let list = self.sections.entry(mutex).or_default();
                    if let Some(section) = list.get_mut(gone.section)
                        && !section.releases.contains(&id)
                    {
                        section.releases.push(id);
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
