//! Which write a read gets its value from.
//!
//! The bytes that are accessed are cut into cells at every first and last byte of an access, so
//! an access covers whole cells. Accesses of a cell are taken together in blocks (`blocks`). What is
//! written above a read on its path, in the same block, is what it returns. For each cell and each
//! block that reads it otherwise, one of the blocks that write it is chosen: it is executed, before
//! the one that reads, has left the value that is found there, and no other write of another value
//! to the cell lies between: which of several writes of one value it is does not matter. Left out
//! are pairs whose order is fixed, threads that exclude each other, and what a write of the same
//! path hides.

use super::blocks::{Accesses, Block, Key, blocks};
use super::circuit::{Bool, all, any};
use super::counters::Location;
use super::forest::NodeId;
use super::formula::{Formula, read_value};
use super::kinds::is_access;
use super::places::Place;
use super::vectors::{BV, constant, equal};
use raddle_protocol::event::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes that accesses cover as a whole.
struct Cell {
    address: u64,
    size: u8,
    blocks: BTreeMap<Key, Block>,
    /// What reads of it find is said already.
    said: bool,
}

/// What a block leaves in a cell.
struct Write {
    place: Place,
    /// The statements that may write it.
    statements: BTreeSet<u64>,
    executed: Bool,
    value: BV,
}

/// Constraints of reads, counted roughly, that a formula may have.
const LIMIT: usize = 4_000_000;

/// Adds the constraints of all reads but those of locations of which all is said already; `false`, and
/// adds none, if they are too many.
pub fn constrain(formula: &mut Formula<'_>, said: &BTreeSet<Location>) -> bool {
    let mut cells = cells(formula);
    for cell in &mut cells {
        cell.said = said.contains(&(cell.address, cell.size));
    }
    // Of others it matters only which predecessors were never seen.
    cells.retain(|cell| !cell.said || formula.tested().is_some());
    let number = |cell: &Cell, which: fn(&Accesses) -> &BTreeSet<NodeId>| {
        let blocks = cell.blocks.values();
        blocks.filter(|b| !which(&b.accesses).is_empty()).count()
    };
    let constraints = |cell: &Cell| {
        let writes = number(cell, |a| &a.writes);
        number(cell, |a| &a.reads).saturating_mul(writes.pow(2))
    };
    if cells.iter().map(constraints).sum::<usize>() > LIMIT {
        return false;
    }
    for cell in cells {
        let writes = cell.blocks.iter();
        let writes = writes.filter(|(_, block)| !block.accesses.writes.is_empty());
        let writes: Vec<Write> = writes
            .map(|(&key, block)| write(formula, &cell, key, block))
            .collect();
        for (&key, block) in &cell.blocks {
            read(formula, &cell, &writes, key, block);
        }
    }
    true
}

/// The cells that are read.
fn cells(formula: &Formula<'_>) -> Vec<Cell> {
    let mut accesses = Vec::new();
    let mut cuts = BTreeSet::new();
    for (id, node) in (0..).zip(&formula.forest.nodes) {
        if let Some(action) = node.action()
            && is_access(action.kind)
            && !node.is_stub()
        {
            let end = action.object + u64::from(action.size);
            cuts.extend([action.object, end]);
            accesses.push((id, action.kind, action.object, end));
        }
    }
    let mut cells: BTreeMap<(u64, u8), Accesses> = BTreeMap::new();
    for (id, kind, start, end) in accesses {
        let mut from = start;
        for &to in cuts.range(start + 1..=end) {
            let cell = cells.entry((from, (to - from) as u8)).or_default();
            if kind != Kind::Write && kind != Kind::AtomicWrite {
                cell.reads.insert(id);
            }
            if kind != Kind::Read && kind != Kind::AtomicRead {
                cell.writes.insert(id);
            }
            from = to;
        }
    }
    let read = cells.into_iter().filter(|c| !c.1.reads.is_empty());
    let cell = |((address, size), accesses): ((u64, u8), Accesses)| Cell {
        address,
        size,
        blocks: blocks(formula, accesses),
        said: false,
    };
    read.map(cell).collect()
}

/// The cell's part of a value of an access.
fn part(formula: &Formula<'_>, id: NodeId, value: &BV, cell: &Cell) -> BV {
    let bits = 8 * u32::from(cell.size);
    if value.size() == bits {
        return value.clone();
    }
    let action = formula.forest.node(id).action();
    let object = action.map_or(cell.address, |a| a.object);
    let low = 8 * (cell.address - object) as u32;
    value.extract(low + bits - 1, low)
}

/// What a write writes in the cell.
fn written(formula: &mut Formula<'_>, id: NodeId, cell: &Cell) -> Option<BV> {
    let term = formula.forest.node(id).action()?.term?;
    let value = formula.value(term);
    Some(part(formula, id, &value, cell))
}

/// What a read returns of the cell.
fn returned(formula: &Formula<'_>, id: NodeId, cell: &Cell) -> BV {
    let action = formula.forest.node(id).action();
    let width = action.map_or(8, |a| 8 * a.size);
    part(
        formula,
        id,
        &read_value(formula.forest.place(id), width),
        cell,
    )
}

/// The nearest write of the block above a node on its path.
fn write_above(formula: &Formula<'_>, id: NodeId, key: Key, block: &Block) -> Option<NodeId> {
    let mut at = formula.forest.step_above(id);
    while let Some(above) = at.filter(|&above| formula.forest.node(above).step >= key.0.step) {
        if block.accesses.writes.contains(&above) {
            return at;
        }
        at = formula.forest.step_above(above);
    }
    None
}

/// One value for several cases, of which one holds at most: a variable if they differ.
fn unite(
    formula: &Formula<'_>,
    mut cases: Vec<(Bool, BV)>,
    name: impl FnOnce() -> String,
    size: u8,
) -> BV {
    if let [(_, only)] = &cases[..] {
        return only.clone();
    }
    let value = BV::new_const(name(), 8 * u32::from(size));
    for (holds, is) in cases.drain(..) {
        formula.solver.assert(&holds.implies(equal(&value, &is)));
    }
    value
}

fn add(cases: &mut Vec<(Bool, BV)>, holds: Bool, value: BV) {
    match cases.iter_mut().find(|case| case.1 == value) {
        Some(same) => same.0 = any(&[same.0.clone(), holds]),
        None => cases.push((holds, value)),
    }
}

fn name(kind: char, key: Key, cell: &Cell) -> String {
    let (Place { tree, step }, section) = key;
    let section = if section { "s" } else { "" };
    format!("{kind}{section}{tree}_{step}_{}", cell.address)
}

/// What a block writes: when, and the value, which depends on the path.
fn write(formula: &mut Formula<'_>, cell: &Cell, key: Key, block: &Block) -> Write {
    let writes = &block.accesses.writes;
    // The writes that hide each one.
    let mut hidden: BTreeMap<NodeId, Vec<Bool>> = BTreeMap::new();
    for &id in writes {
        if let Some(above) = write_above(formula, id, key, block) {
            hidden.entry(above).or_default().push(formula.executed(id));
        }
    }
    let mut executed = Vec::new();
    let mut values = Vec::new();
    for &id in writes {
        let exec = formula.executed(id);
        let hiding = hidden.remove(&id).unwrap_or_default();
        if let Some(value) = written(formula, id, cell) {
            let last = all(&[exec.clone(), any(&hiding).not()]);
            add(&mut values, last, value);
        }
        executed.push(exec);
    }
    let writes = writes.iter().filter(|_| formula.tested().is_some());
    let statements = writes.map(|&id| formula.forest.node(id).pc);
    Write {
        place: key.0,
        statements: statements.collect(),
        executed: any(&executed),
        value: unite(formula, values, || name('w', key, cell), cell.size),
    }
}

fn read(formula: &mut Formula<'_>, cell: &Cell, writes: &[Write], key: Key, block: &Block) {
    let mut open = Vec::new();
    for &id in &block.accesses.reads {
        match write_above(formula, id, key, block) {
            Some(above) => {
                let returned = returned(formula, id, cell);
                if let Some(written) = written(formula, above, cell) {
                    let same = equal(&returned, &written);
                    let fact = formula.executed(id).implies(same);
                    formula.solver.assert(&fact);
                }
            }
            None => open.push(id),
        }
    }
    if open.is_empty() {
        return;
    }
    let mut returns = Vec::new();
    for &id in &open {
        // Accesses of one place can differ in size and address: each names its own value.
        add(
            &mut returns,
            formula.executed(id),
            returned(formula, id, cell),
        );
    }
    let executed: Vec<Bool> = returns.iter().map(|r| r.0.clone()).collect();
    let value = unite(formula, returns, || name('m', key, cell), cell.size);
    let options = options(formula, cell, writes, (key, &open), &value);
    if !cell.said {
        let fact = any(&executed).implies(any(&options));
        formula.solver.assert(&fact);
    }
}

/// The ways in which a block can find this value.
fn options(
    formula: &mut Formula<'_>,
    cell: &Cell,
    writes: &[Write],
    (key, open): (Key, &[NodeId]),
    value: &BV,
) -> Vec<Bool> {
    let place = key.0;
    let hiding = hiding(formula, cell, key, open);
    let sources: Vec<&Write> = writes
        .iter()
        .filter(|w| can_reach(formula, w.place, place, hiding))
        .collect();
    let mut options = Vec::new();
    for &source in &sources {
        let mut parts = vec![
            source.executed.clone(),
            formula.precedes(source.place, place),
            equal(value, &source.value),
        ];
        undisturbed(formula, &sources, Some(source), place, &mut parts);
        let way = all(&parts);
        note_untested(formula, source, open, &way);
        options.push(way);
    }
    if hiding.is_none() {
        let mut parts = vec![initial(formula, cell, value)];
        undisturbed(formula, &sources, None, place, &mut parts);
        options.push(all(&parts));
    }
    options
}

/// Keeps in mind that the reads may find what no execution has shown them to find.
fn note_untested(formula: &mut Formula<'_>, source: &Write, reads: &[NodeId], way: &Bool) {
    let Some(tested) = formula.tested() else {
        return;
    };
    for &read in reads {
        let node = formula.forest.node(read);
        let untested = |&before: &u64| !tested.contains(before, node.pc);
        if source.place.tree != node.tree && source.statements.iter().any(untested) {
            formula.untested.push((read, way.clone()));
        }
    }
}

/// The last other block that is before all these nodes on their paths and writes the cell on all of
/// them.
fn hiding(formula: &Formula<'_>, cell: &Cell, key: Key, nodes: &[NodeId]) -> Option<Place> {
    let mut owners: BTreeMap<NodeId, Place> = BTreeMap::new();
    for (other, block) in cell.blocks.iter().filter(|b| *b.0 != key) {
        owners.extend(block.accesses.writes.iter().map(|&id| (id, other.0)));
    }
    let mut common: Option<BTreeSet<Place>> = None;
    for &node in nodes {
        let above = std::iter::successors(formula.previous(node), |&at| formula.previous(at));
        let places = above.filter_map(|at| owners.get(&at).copied()).collect();
        common = Some(match common {
            None => places,
            Some(others) => &others & &places,
        });
    }
    let mut last: Option<Place> = None;
    for place in common.unwrap_or_default() {
        if last.is_none_or(|l| formula.before(l, place)) {
            last = Some(place);
        }
    }
    last
}

/// Can the read see this write?
fn can_reach(formula: &Formula<'_>, write: Place, read: Place, hiding: Option<Place>) -> bool {
    write != read
        && !formula.before(read, write)
        && !hiding.is_some_and(|h| formula.before(write, h))
        && formula.coexist(write.tree, read.tree)
}

/// No write of another value lies between the source (or the start) and the read. If the last write
/// before the read is another of the same value, it can be named as the source as well.
fn undisturbed(
    formula: &Formula<'_>,
    sources: &[&Write],
    source: Option<&Write>,
    read: Place,
    parts: &mut Vec<Bool>,
) {
    for other in sources {
        let place = other.place;
        if source.is_some_and(|s| s.place == place || s.value == other.value) {
            continue;
        }
        let mut options = vec![other.executed.not()];
        if let Some(source) = source.map(|s| s.place) {
            if formula.before(place, source) || !formula.coexist(place.tree, source.tree) {
                continue;
            }
            if !formula.before(source, place) {
                options.push(formula.precedes(place, source));
            }
        }
        if !formula.before(place, read) {
            options.push(formula.precedes(read, place));
        }
        parts.push(any(&options));
    }
}

/// The value is the initial one. Bytes of which that is not known can have any.
fn initial(formula: &mut Formula<'_>, cell: &Cell, got: &BV) -> Bool {
    let mut parts = Vec::new();
    for i in 0..cell.size {
        let byte = got.extract(8 * u32::from(i) + 7, 8 * u32::from(i));
        let address = cell.address + u64::from(i);
        if let Some(values) = formula.forest.init.get(&address) {
            if values.len() > 1 {
                formula.unsteady.insert(cell.address);
            }
            let is = |v: &u8| equal(&byte, &constant(u64::from(*v), 8));
            parts.push(any(&values.iter().map(is).collect::<Vec<_>>()));
        }
    }
    all(&parts)
}
