//! Mutexes in the formula: sections one after the other, failed trylocks within another's section.

use super::forest::NodeId;
use super::formula::Formula;
use super::locks::{Section, Sections, tries};
use super::places::Place;
use super::solver::{Bool, all, any};

impl Formula<'_> {
    /// The mutex is taken at this place.
    pub fn acquired(&self, place: Place, section: &Section) -> Bool {
        let taken = section.acquires.iter().map(|&id| {
            let exec = self.executed(id);
            match self.forest.node(id).action() {
                Some(a) if tries(a.kind) => all(&[exec, self.succeeds(place)]),
                _ => exec,
            }
        });
        any(&taken.collect::<Vec<_>>())
    }

    fn any_executed(&self, nodes: &[NodeId]) -> Bool {
        let executed = nodes.iter().map(|&n| self.executed(n));
        any(&executed.collect::<Vec<_>>())
    }

    /// Some release of the section is executed.
    pub fn released(&self, section: &Section) -> Bool {
        let released = section.releases.values().map(|r| self.any_executed(r));
        any(&released.collect::<Vec<_>>())
    }

    /// The constraints of all mutexes.
    pub fn mutexes(&self) {
        for sections in self.locks.sections.values() {
            let list: Vec<(&Place, &Section)> = sections.iter().collect();
            for (i, a) in list.iter().enumerate() {
                for b in &list[i + 1..] {
                    self.one_after_the_other(*a, *b);
                }
            }
        }
        for id in 0..self.forest.nodes.len() as NodeId {
            let Some(action) = self.forest.node(id).action() else {
                continue;
            };
            let stub = self.forest.node(id).is_stub();
            if tries(action.kind) && !stub && !self.locks.owns(id, action.object) {
                let place = self.forest.place(id);
                let busy = self.busy(place, self.locks.sections.get(&action.object));
                let failed = all(&[self.executed(id), self.succeeds(place).not()]);
                self.solver.assert(&failed.implies(&busy));
            }
        }
    }

    fn one_after_the_other(&self, a: (&Place, &Section), b: (&Place, &Section)) {
        if a.0.tree == b.0.tree || !self.coexist(a.0.tree, b.0.tree) {
            return;
        }
        let mut options = vec![
            self.acquired(*a.0, a.1).not(),
            self.acquired(*b.0, b.1).not(),
        ];
        for (first, second) in [(a, b), (b, a)] {
            if self.forest.before(*second.0, *first.0) {
                continue;
            }
            for (place, nodes) in &first.1.releases {
                let before = self.precedes(*place, *second.0);
                options.push(all(&[self.any_executed(nodes), before]));
            }
        }
        self.solver.assert(&any(&options));
    }

    /// Some other thread's section is open at this place.
    fn busy(&self, here: Place, sections: Option<&Sections>) -> Bool {
        let mut options = Vec::new();
        for (&place, section) in sections.into_iter().flatten() {
            if place.tree == here.tree
                || !self.coexist(place.tree, here.tree)
                || self.forest.before(here, place)
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
