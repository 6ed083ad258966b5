//! Atomic sections in the formula: what other threads do to the memory that a section touches comes
//! before it or after it.
//!
//! Sections exclude each other by a lock (`exclusion`). What others do to other memory may come
//! between in a model, since there it could as well come before or after; the solver may have chosen
//! an order of steps that have nothing to do with each other by which it could not. Only such models
//! are refused, when they are met: a section in which nobody can wait is one unit of the order.

use super::bytes;
use super::circuit::{Bool, all, any};
use super::forest::{Action, NodeId, TreeId};
use super::formula::Formula;
use super::kinds::is_access;
use super::locks::{Entry, Section};
use super::order::Unit;
use super::places::Place;
use crate::inuse::meet;
use raddle_protocol::conflict::Access;
use raddle_protocol::event::Kind;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// Memory that a step touches, and what it does with it.
type Touch = (Range<u64>, Access);

impl Formula<'_> {
    /// The constraints of all atomic sections.
    pub fn atomic_sections(&mut self) {
        let Some(lock) = self.forest.section else {
            return;
        };
        let Some(sections) = self.locks.sections.get(&lock) else {
            return;
        };
        let sections: Vec<(Entry, Section)> =
            sections.iter().map(|(e, s)| (*e, s.clone())).collect();
        let mut inside: BTreeMap<Entry, Vec<Touch>> = BTreeMap::new();
        let mut outside: BTreeMap<Place, Vec<(NodeId, Touch)>> = BTreeMap::new();
        for (id, node) in (0..).zip(&self.forest.nodes) {
            for touch in node.action().into_iter().flat_map(touched) {
                match self.locks.section(id, lock) {
                    Some(entry) => {
                        let touches = inside.entry(entry).or_default();
                        if !touches.contains(&touch) {
                            touches.push(touch);
                        }
                    }
                    None => {
                        let place = self.forest.place(id);
                        outside.entry(place).or_default().push((id, touch));
                    }
                }
            }
        }
        for (entry, section) in &sections {
            let Some(touches) = inside.get(entry) else {
                continue;
            };
            for (place, nodes) in &outside {
                let conflicts = |n: &&(NodeId, Touch)| touches.iter().any(|t| conflict(t, &n.1));
                let nodes: Vec<NodeId> = nodes.iter().filter(conflicts).map(|n| n.0).collect();
                if !nodes.is_empty() {
                    self.before_or_after(entry, section, *place, &nodes);
                }
            }
        }
        self.others_are_outside(lock, &sections);
    }

    /// The sections that these steps, by place, go through from begin to end, doing nothing there but
    /// access memory.
    pub fn whole_sections(&self, steps: &BTreeMap<Place, NodeId>) -> Vec<Unit> {
        let sections = self
            .forest
            .section
            .and_then(|s| self.locks.sections.get(&s));
        let mut units = Vec::new();
        for (entry, section) in sections.into_iter().flatten() {
            for (&last, releases) in &section.releases {
                let end = steps.get(&last).filter(|end| releases.contains(end));
                let first = entry.place;
                if let Some(&end) = end.filter(|_| self.only_accesses(first, last, steps)) {
                    let when = self.executed(end);
                    units.push(Unit { first, last, when });
                }
            }
        }
        units
    }

    /// Between these two places are steps that access memory.
    fn only_accesses(&self, a: Place, b: Place, steps: &BTreeMap<Place, NodeId>) -> bool {
        let between = steps.range(a..b).filter(|s| *s.0 != a);
        between
            .filter_map(|s| self.forest.node(*s.1).action())
            .all(|action| is_access(action.kind))
    }

    /// These steps, at one place, do not come between the ends of the section.
    fn before_or_after(&self, entry: &Entry, section: &Section, place: Place, nodes: &[NodeId]) {
        let begin = entry.place;
        if place.tree == begin.tree
            || !self.coexist(place.tree, begin.tree)
            || self.before(place, begin)
        {
            return;
        }
        let mut options = vec![
            self.acquired(begin, section).not(),
            self.any_executed(nodes).not(),
            self.precedes(place, begin),
        ];
        for (&end, releases) in &section.releases {
            let after = self.precedes(end, place);
            options.push(all(&[self.any_executed(releases), after]));
        }
        self.solver.assert(&any(&options));
    }

    /// A step of which nothing is known yet may touch what a section does: when a frontier is
    /// reached, no other thread is in a section.
    fn others_are_outside(&mut self, lock: u64, sections: &[(Entry, Section)]) {
        let trees: BTreeSet<TreeId> = sections.iter().map(|s| s.0.place.tree).collect();
        let outside = |tree| Bool::new_const(format!("o{tree}"));
        for (entry, section) in sections {
            let closed = any(&[
                self.acquired(entry.place, section).not(),
                self.released(section),
            ]);
            let fact = outside(entry.place.tree).implies(closed);
            self.solver.assert(&fact);
        }
        let mut targets = std::mem::take(&mut self.targets);
        for target in &mut targets {
            let own = self.forest.node(target.node).tree;
            if self.locks.owns(target.node, lock) {
                continue;
            }
            let others = trees.iter().filter(|&&t| t != own && self.coexist(t, own));
            let mut parts: Vec<Bool> = others.map(|&t| outside(t)).collect();
            parts.push(target.condition.clone());
            target.condition = all(&parts);
        }
        self.targets = targets;
    }
}

/// The memory that a step touches.
fn touched(action: &Action) -> Vec<Touch> {
    use Kind::{AtomicRead, Free, Read, ReadRange, Remap, WriteRange};
    let block = action.object..action.object.saturating_add(action.value);
    match action.kind {
        Free | Remap | WriteRange => vec![(block, Access::Changes)],
        ReadRange => vec![(block, Access::Looks)],
        kind => {
            let access = match kind {
                Read | AtomicRead => Access::Looks,
                kind if is_access(kind) => Access::Changes,
                _ => Access::Adds,
            };
            let each = bytes::touched(action).map(|memory| (memory, access));
            each.collect()
        }
    }
}

fn conflict(a: &Touch, b: &Touch) -> bool {
    a.1.conflicts(b.1) && meet(&a.0, &b.0)
}
