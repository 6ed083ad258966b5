//! Accesses of a cell that no other thread's access can come between.
//!
//! Where every two accesses of a cell that conflict are in sections of one lock, or in a fixed
//! order, a section is to others like one access: it finds what the section before it has left,
//! and leaves what is written last in it. So the formula need not say of each write in it how it
//! lies to each read of others. So are all accesses of a cell that only one thread touches.

use super::forest::{NodeId, TreeId};
use super::formula::Formula;
use super::locks::Entry;
use super::places::Place;
use std::collections::{BTreeMap, BTreeSet};

/// Accesses of one cell.
#[derive(Default)]
pub struct Accesses {
    pub reads: BTreeSet<NodeId>,
    pub writes: BTreeSet<NodeId>,
}

/// The accesses of a cell at one place, or in a section of a lock.
#[derive(Default)]
pub struct Block {
    pub accesses: Accesses,
    /// Its last place.
    last: u32,
    /// The section that it is.
    section: Option<Entry>,
}

/// What stands for a block in orders: its place, or where its section begins; and whether it is a
/// section. (Of two paths, one can begin a section where the other one has an access.)
pub type Key = (Place, bool);

/// The accesses of a cell in blocks.
pub fn blocks(formula: &Formula<'_>, cell: Accesses) -> BTreeMap<Key, Block> {
    let all = || cell.reads.union(&cell.writes);
    let trees: BTreeSet<TreeId> = all().map(|&id| formula.forest.node(id).tree).collect();
    if trees.len() == 1
        && let Some(&tree) = trees.first()
    {
        return BTreeMap::from([alone(tree, cell)]);
    }
    let mut locks: BTreeMap<u64, usize> = BTreeMap::new();
    for &id in all() {
        for (lock, _) in formula.locks.held(id) {
            *locks.entry(lock).or_default() += 1;
        }
    }
    // A word that is a lock guards all but itself: the step that takes it is no part of the section.
    for &id in all() {
        if formula.locks.words.takes.contains(&id)
            && let Some(action) = formula.forest.node(id).action()
        {
            locks.remove(&action.object);
        }
    }
    // The one that guards most.
    let lock = locks.into_iter().max_by_key(|&(lock, uses)| (uses, lock));
    let guarded = lock.map(|(lock, _)| gather(formula, &cell, Some(lock)));
    guarded
        .filter(|blocks| is_guarded(formula, blocks))
        .unwrap_or_else(|| gather(formula, &cell, None))
}

/// The one block of a cell that only this thread touches.
fn alone(tree: TreeId, accesses: Accesses) -> (Key, Block) {
    let block = Block {
        accesses,
        last: u32::MAX,
        section: None,
    };
    ((Place { tree, step: 0 }, true), block)
}

fn gather(formula: &Formula<'_>, cell: &Accesses, lock: Option<u64>) -> BTreeMap<Key, Block> {
    let mut blocks: BTreeMap<Key, Block> = BTreeMap::new();
    let mut add = |id: NodeId, written: bool| {
        let place = formula.forest.place(id);
        let mut held = formula.locks.held(id);
        let section = held.find(|h| Some(h.0) == lock).map(|h| h.1);
        let key = section.map_or((place, false), |s| (s.place, true));
        let block = blocks.entry(key).or_default();
        block.last = place.step.max(block.last);
        block.section = section;
        match written {
            true => block.accesses.writes.insert(id),
            false => block.accesses.reads.insert(id),
        }
    };
    cell.reads.iter().for_each(|&id| _ = add(id, false));
    cell.writes.iter().for_each(|&id| _ = add(id, true));
    blocks
}

/// Can no access come into a section from outside?
fn is_guarded(formula: &Formula<'_>, blocks: &BTreeMap<Key, Block>) -> bool {
    let blocks: Vec<(Place, &Block)> = blocks.iter().map(|(key, b)| (key.0, b)).collect();
    let fits = |(i, a): (usize, &(Place, &Block))| {
        let later = &blocks[i + 1..];
        later.iter().all(|b| stay_apart(formula, *a, *b))
    };
    blocks.iter().enumerate().all(fits)
}

fn stay_apart(formula: &Formula<'_>, a: (Place, &Block), b: (Place, &Block)) -> bool {
    let writes = |block: &Block| !block.accesses.writes.is_empty();
    let sections = [a.1.section, b.1.section];
    let exclude = matches!(sections, [Some(a), Some(b)] if !(a.shared && b.shared));
    let before = |a: (Place, &Block), b: (Place, &Block)| {
        let step = a.1.last;
        formula.before(Place { step, ..a.0 }, b.0)
    };
    a.0.tree == b.0.tree
        || exclude
        || !(writes(a.1) || writes(b.1))
        || !formula.coexist(a.0.tree, b.0.tree)
        || sections == [None, None]
        || before(a, b)
        || before(b, a)
}
