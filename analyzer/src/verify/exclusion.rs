//! Locks in the formula: sections one after the other unless both read, failed attempts within
//! another's section.

use super::circuit::{Bool, all, any};
use super::forest::NodeId;
use super::formula::{Formula, read_value};
use super::locks::{Entry, Section, Sections, Taking, lock_of, taking};
use super::places::Place;
use super::vectors::{constant, equal};
use raddle_protocol::event::Kind;

impl Formula<'_> {
    /// How the step takes a lock that its thread does not hold already.
    pub fn takes(&self, id: NodeId) -> Option<Taking> {
        let action = self.forest.node(id).action()?;
        let owned = self.locks.owns(id, lock_of(action));
        taking(self.forest, id).filter(|_| !owned)
    }

    /// The lock is taken at this place.
    pub fn acquired(&self, place: Place, section: &Section) -> Bool {
        let taken = section.acquires.iter().map(|&id| {
            let exec = self.executed(id);
            match self.takes(id) {
                Some(Taking::Tries(_)) => all(&[exec, self.succeeds(place)]),
                Some(Taking::Waits) => exec,
                None => all(&[exec, self.finds_free(id)]),
            }
        });
        any(&taken.collect::<Vec<_>>())
    }

    /// The word that this step exchanges is free; true for what takes a lock once more.
    fn finds_free(&self, id: NodeId) -> Bool {
        let action = self.forest.node(id).action();
        let free = action.and_then(|a| self.locks.words.free.get(&a.object));
        free.map_or(Bool::from_bool(true), |free| {
            let found = read_value(self.forest.place(id), free.width);
            equal(&found, &constant(free.value, free.width))
        })
    }

    pub fn any_executed(&self, nodes: &[NodeId]) -> Bool {
        let executed = nodes.iter().map(|&n| self.executed(n));
        any(&executed.collect::<Vec<_>>())
    }

    /// Some release of the section is executed.
    pub fn released(&self, section: &Section) -> Bool {
        let released = section.releases.values().map(|r| self.any_executed(r));
        any(&released.collect::<Vec<_>>())
    }

    /// The lock is taken in this section and not given back.
    pub fn holds(&self, entry: &Entry, section: &Section) -> Bool {
        let released = self.released(section);
        all(&[self.acquired(entry.place, section), released.not()])
    }

    /// The constraints of all locks.
    pub fn exclusion(&self) {
        for sections in self.locks.sections.values() {
            let list: Vec<(&Entry, &Section)> = sections.iter().collect();
            for (i, a) in list.iter().enumerate() {
                for b in &list[i + 1..] {
                    if !(a.0.shared && b.0.shared) {
                        self.one_after_the_other(*a, *b);
                    }
                }
            }
        }
        for id in 0..self.forest.nodes.len() as NodeId {
            let node = self.forest.node(id);
            let (Some(action), Some(Taking::Tries(_))) = (node.action(), self.takes(id)) else {
                continue;
            };
            let place = self.forest.place(id);
            let succeeds = self.succeeds(place);
            let failed = all(&[self.executed(id), succeeds.not()]);
            if action.kind == Kind::CondWake {
                // Who was signalled goes on with the mutex only.
                self.solver.assert(&failed.implies(self.is_woken(id).not()));
            }
            let shared = matches!(action.kind, Kind::RwRead | Kind::RwTryRead);
            let sections = self.locks.sections.get(&lock_of(action));
            let busy = self.busy(place, shared, sections);
            self.solver.assert(&failed.implies(&busy));
        }
    }

    fn one_after_the_other(&self, a: (&Entry, &Section), b: (&Entry, &Section)) {
        let (at, bt) = (a.0.place, b.0.place);
        if at.tree == bt.tree || !self.coexist(at.tree, bt.tree) {
            return;
        }
        let mut options = vec![self.acquired(at, a.1).not(), self.acquired(bt, b.1).not()];
        for (first, second) in [(a, b), (b, a)] {
            if self.before(second.0.place, first.0.place) {
                continue;
            }
            for (place, nodes) in &first.1.releases {
                let before = self.precedes(*place, second.0.place);
                options.push(all(&[self.any_executed(nodes), before]));
            }
        }
        self.solver.assert(&any(&options));
    }

    /// Some other thread's section that excludes this attempt is open at this place.
    fn busy(&self, here: Place, shared: bool, sections: Option<&Sections>) -> Bool {
        let mut options = Vec::new();
        for (entry, section) in sections.into_iter().flatten() {
            let place = entry.place;
            if place.tree == here.tree
                || shared && entry.shared
                || !self.coexist(place.tree, here.tree)
                || self.before(here, place)
            {
                continue;
            }
            let mut parts = vec![self.acquired(place, section), self.precedes(place, here)];
            for (&release, nodes) in &section.releases {
                let later = self.precedes(here, release);
                parts.push(any(&[self.any_executed(nodes).not(), later]));
            }
            options.push(all(&parts));
        }
        any(&options)
    }
}
