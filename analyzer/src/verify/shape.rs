//! Which nodes of the forest exclude each other, and which are always in order.

use super::forest::{Forest, NodeId, TreeId};

/// Positions of the nodes in their trees.
pub struct Shape<'f> {
    forest: &'f Forest,
    /// Numbers of entry and exit of a walk through the tree: `a` is above `b` exactly if the span
    /// of `a` holds that of `b`.
    span: Vec<(u32, u32)>,
}

impl<'f> Shape<'f> {
    /// Walks through all trees.
    pub fn new(forest: &'f Forest) -> Shape<'f> {
        let mut span = vec![(0, 0); forest.nodes.len()];
        let mut clock = 0;
        for tree in &forest.trees {
            let mut stack = vec![(tree.root, false)];
            while let Some((id, leaving)) = stack.pop() {
                clock += 1;
                if leaving {
                    span[id as usize].1 = clock;
                    continue;
                }
                span[id as usize].0 = clock;
                stack.push((id, true));
                stack.extend(forest.node(id).next.iter().map(|n| (n.1, false)));
            }
        }
        Shape { forest, span }
    }

    /// Is `a` the same as `b` or above it, in one tree?
    fn above(&self, a: NodeId, b: NodeId) -> bool {
        let (a, b) = (self.span[a as usize], self.span[b as usize]);
        a.0 <= b.0 && b.1 <= a.1
    }

    /// The node of `tree` under which `id` lies: itself, or the creation of its thread or of an
    /// ancestor of that.
    fn lift(&self, mut id: NodeId, tree: TreeId) -> Option<NodeId> {
        while self.forest.node(id).tree != tree {
            id = self.forest.tree(self.forest.node(id).tree).create?;
        }
        Some(id)
    }

    /// The two nodes seen from the innermost tree that they have in common.
    fn meet(&self, a: NodeId, b: NodeId) -> Option<(NodeId, NodeId)> {
        let mut at = a;
        loop {
            let tree = self.forest.node(at).tree;
            if let Some(other) = self.lift(b, tree) {
                return Some((at, other));
            }
            at = self.forest.tree(tree).create?;
        }
    }

    /// Can no execution have both?
    pub fn exclusive(&self, a: NodeId, b: NodeId) -> bool {
        self.meet(a, b)
            .is_some_and(|(a, b)| !self.above(a, b) && !self.above(b, a))
    }

    /// Does every execution that has `b` have `a` before it, by program order and creation?
    pub fn before(&self, a: NodeId, b: NodeId) -> bool {
        if a == b {
            return false;
        }
        self.meet(a, b)
            .is_some_and(|(x, y)| x == a && self.above(a, y))
    }
}
