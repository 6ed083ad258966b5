//! Loops that only wait.
//!
//! A round of such a loop hands nothing on to the next one, and all that it may change is memory that
//! it updates atomically. A round that changes nothing is in vain: whatever happens after it can
//! happen without it. So the thread is taken to be where it was when the round began, and the loop is
//! one position, not a path for each number of rounds (the idea of "spin assume", Kokologiannakis,
//! Ren, Vafeiadis, Dynamic Partial Order Reductions for Spinloops, FMCAD 2021). Prefixes with a round
//! in vain are left out of the formula, but where it is asked whether all threads can get stuck: there
//! such a round, as the last thing that a thread does, is how it waits.

use super::circuit::{Bool, all, any};
use super::forest::{Action, NodeId, TreeId};
use super::formula::{Formula, read_value};
use super::kinds::is_access;
use super::vectors::equal;
use raddle_protocol::event::Kind;

/// Rounds in vain may be executed.
fn allowed() -> Bool {
    Bool::new_const("idle")
}

impl Formula<'_> {
    /// Rounds in vain are executed only where that is allowed, and only as the last thing that a
    /// thread does.
    pub fn leave_out_rounds(&mut self) {
        for &end in self.forest.rounds.keys() {
            let idle = self.in_vain(end);
            let last = all(&[allowed(), self.stands(end)]);
            self.solver.assert(&idle.implies(last));
            self.idle.insert(end, idle);
        }
    }

    /// From here on, no round is in vain. Where there is none, nothing is said: one more fact, however
    /// idle, makes the solver take other ways.
    pub fn exclude_idle_rounds(&self) {
        if !self.forest.rounds.is_empty() {
            self.solver.assert(&allowed().not());
        }
    }

    /// The steps of the round that ends here.
    fn steps_of_round(&self, end: NodeId) -> Vec<NodeId> {
        let begin = self.forest.rounds[&end];
        let above = std::iter::successors(Some(end), |&at| {
            let parent = self.forest.node(at).parent;
            parent.map(|p| p.0).filter(|_| at != begin)
        });
        let steps = above.skip(1);
        steps
            .filter(|&at| self.forest.node(at).action().is_some())
            .collect()
    }

    /// The round that ends here was executed and has changed nothing.
    fn in_vain(&mut self, end: NodeId) -> Bool {
        let mut parts = vec![self.at[end as usize].clone()];
        for step in self.steps_of_round(end) {
            let action = self.forest.node(step).action().copied();
            let update = action.filter(|a| a.kind == Kind::Rmw);
            if let Some((update, term)) = update.and_then(|a| Some((a, a.term?))) {
                let found = read_value(self.forest.place(step), 8 * update.size);
                let written = self.value(term);
                parts.push(equal(&found, &written));
            }
        }
        all(&parts)
    }

    /// The thread has come to this node, and taken no step from there.
    fn stands(&self, id: NodeId) -> Bool {
        let place = self.forest.place(id);
        all(&[self.at[id as usize].clone(), self.comes_to(place).not()])
    }

    /// The thread has gone round in vain, and would again: nobody writes any more what it has read.
    pub fn spins_at(&self, end: NodeId) -> Bool {
        let mut parts = vec![allowed(), self.idle[&end].clone()];
        for read in self.steps_of_round(end) {
            for write in self.writes_of_others(read) {
                let order = self.precedes(self.forest.place(write), self.forest.place(read));
                let others = self.forest.rounds.keys();
                let of = others.filter(|&&end| self.steps_of_round(end).contains(&write));
                let harmless = of.map(|end| self.idle[end].clone());
                let harmless = harmless.chain([self.executed(write).not(), order]);
                parts.push(any(&harmless.collect::<Vec<_>>()));
            }
        }
        all(&parts)
    }

    /// The steps of other threads that write bytes which this step accesses.
    fn writes_of_others(&self, id: NodeId) -> Vec<NodeId> {
        let tree = self.forest.node(id).tree;
        let bytes = |a: &Action| (a.object, a.object.saturating_add(a.size.into()));
        let action = self.forest.node(id).action().filter(|a| is_access(a.kind));
        let Some((first, end)) = action.map(bytes) else {
            return Vec::new();
        };
        let writes = |id: &NodeId| {
            let node = self.forest.node(*id);
            node.tree != tree
                && self.coexist(node.tree, tree)
                && node.action().is_some_and(|a| {
                    let (from, to) = bytes(a);
                    let kinds = [Kind::Write, Kind::AtomicWrite, Kind::Rmw];
                    kinds.contains(&a.kind) && from < end && first < to
                })
        };
        (0..self.forest.nodes.len() as NodeId)
            .filter(writes)
            .collect()
    }

    /// The rounds of a thread, by their ends.
    pub fn rounds_of(&self, tree: TreeId) -> impl Iterator<Item = NodeId> {
        let ends = self.forest.rounds.keys().copied();
        ends.filter(move |&end| self.forest.node(end).tree == tree)
    }
}
