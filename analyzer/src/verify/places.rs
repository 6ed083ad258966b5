//! Places in threads: which are always in order, and which exclude each other.

use super::forest::{Forest, NodeId, TreeId};

/// The `step`-th step (from 0) of a thread, whichever of the nodes at that depth it is. One
/// execution has at most one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place {
    pub tree: TreeId,
    pub step: u32,
}

impl Forest {
    /// The place of a step node.
    pub fn place(&self, id: NodeId) -> Place {
        let node = self.node(id);
        Place {
            tree: node.tree,
            step: node.step,
        }
    }

    /// The place under which a place lies in `tree`: itself, or the creation of its thread or of
    /// an ancestor of that.
    fn lift(&self, mut place: Place, tree: TreeId) -> Option<Place> {
        while place.tree != tree {
            place = self.place(self.tree(place.tree).create?);
        }
        Some(place)
    }

    /// Is `a`, if it is executed, before `b` in every execution, by program order and creation?
    pub fn before(&self, a: Place, b: Place) -> bool {
        let lifted = self.lift(b, a.tree);
        // A creation is before what its thread does.
        lifted.is_some_and(|l| a.step < l.step || (a.step == l.step && a.tree != b.tree))
    }
}
