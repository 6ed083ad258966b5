//! Places in threads: which are always in order, and which exclude each other.

use super::forest::{Forest, NodeId, TreeId};
use super::kinds::UNKNOWN;
use crate::stop;
use raddle_protocol::event::Kind;
use std::collections::HashMap;
use std::rc::Rc;

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

    /// The thread that the step waits for to end, where that is known.
    fn joined(&self, id: NodeId) -> Option<TreeId> {
        let action = self.node(id).action()?;
        let known = action.kind == Kind::ThreadJoin && action.value != UNKNOWN;
        known.then_some(action.value as TreeId)
    }
}

/// For each thread, how many of its steps come before something; of a thread that has ended, all.
pub type Clock = Rc<Vec<u32>>;

/// What always comes before what: by program order, creations and joins.
#[derive(Default)]
pub struct Fixed {
    /// What comes before a step of this place, on all paths that lead there. A thread's own steps
    /// are not counted.
    clocks: HashMap<Place, Clock>,
}

impl Fixed {
    pub fn new(forest: &Forest) -> Fixed {
        // A join may stand in the list before the end of the thread that it waits for.
        let first = clocks(forest, &HashMap::new());
        let ends = |id: &NodeId| {
            let action = forest.node(*id).action();
            action.is_some_and(|a| a.kind == Kind::ThreadExit)
        };
        let all = 0..forest.nodes.len() as NodeId;
        let ends = all.clone().filter(ends);
        let ends = common(ends.map(|id| (forest.node(id).tree, &first[id as usize])));
        let clocks = clocks(forest, &ends);
        let steps = all.filter(|&id| forest.node(id).action().is_some());
        let clocks = common(steps.map(|id| (forest.place(id), &clocks[id as usize])));
        Fixed { clocks }
    }

    /// Does `a`, if it is executed, come before `b` in every execution?
    pub fn before(&self, a: Place, b: Place) -> bool {
        stop::point();
        if a.tree == b.tree {
            return a.step < b.step;
        }
        self.steps_before(a.tree, b) > a.step
    }

    /// How many steps of another thread always come before this place.
    pub fn steps_before(&self, tree: TreeId, place: Place) -> u32 {
        let clock = self.clocks.get(&place);
        clock.map_or(0, |c| c[tree as usize])
    }
}

/// What comes before each node. `ends`: what comes before the ends of each thread.
fn clocks(forest: &Forest, ends: &HashMap<TreeId, Clock>) -> Vec<Clock> {
    let nothing = Rc::new(vec![0; forest.trees.len()]);
    let mut clocks: Vec<Clock> = Vec::with_capacity(forest.nodes.len());
    for (id, node) in (0..).zip(&forest.nodes) {
        // Parents and creations stand before what they lead to.
        let mut clock = match (node.parent, forest.tree(node.tree).create) {
            (Some((parent, _)), _) => clocks[parent as usize].clone(),
            (None, Some(create)) => {
                let mut clock = clocks[create as usize].clone();
                let created = forest.place(create);
                Rc::make_mut(&mut clock)[created.tree as usize] = created.step + 1;
                clock
            }
            (None, None) => nothing.clone(),
        };
        if let Some(tree) = forest.joined(id) {
            let known = Rc::make_mut(&mut clock);
            if let Some(end) = ends.get(&tree) {
                for (mine, theirs) in known.iter_mut().zip(end.iter()) {
                    *mine = (*mine).max(*theirs);
                }
            }
            known[tree as usize] = u32::MAX;
        }
        clocks.push(clock);
    }
    clocks
}

/// What all clocks of a key have in common.
fn common<'c, K: Eq + std::hash::Hash>(
    clocks: impl Iterator<Item = (K, &'c Clock)>,
) -> HashMap<K, Clock> {
    let mut found: HashMap<K, Clock> = HashMap::new();
    for (key, clock) in clocks {
        let known = found.entry(key).or_insert_with(|| clock.clone());
        if known != clock {
            for (known, other) in Rc::make_mut(known).iter_mut().zip(clock.iter()) {
                *known = (*known).min(*other);
            }
        }
    }
    found
}
