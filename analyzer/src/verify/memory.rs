//! Which write a read gets its value from.
//!
//! The bytes that are accessed are cut into cells at every first and last byte of an access, so
//! an access covers whole cells. For each cell of an executed read one of the writes to it is
//! chosen: it is executed, before the read, has the value that the read returns there, and no
//! other write to the cell lies between. Left out are writes that exclude the read, writes that a
//! later one always hides (own ones, and those before the creation of the thread), and pairs of
//! writes that exclude each other.

use super::forest::NodeId;
use super::formula::{Formula, read_value};
use super::insert::is_access;
use super::solver::{BV, Bool, all, any, constant, equal};
use raddle_protocol::event::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// Accesses of one cell.
#[derive(Default)]
struct Cell {
    size: u8,
    reads: Vec<NodeId>,
    writes: Vec<NodeId>,
}

/// Adds the constraints of all reads.
pub fn constrain(formula: &mut Formula<'_>) {
    for (address, cell) in cells(formula) {
        for &read in &cell.reads {
            read_from(formula, address, &cell, read);
        }
    }
}

fn cells(formula: &Formula<'_>) -> BTreeMap<u64, Cell> {
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
    let mut cells: BTreeMap<u64, Cell> = BTreeMap::new();
    for (id, kind, start, end) in accesses {
        let mut from = start;
        for &to in cuts.range(start + 1..=end) {
            let cell = cells.entry(from).or_default();
            cell.size = (to - from) as u8;
            if kind != Kind::Write && kind != Kind::AtomicWrite {
                cell.reads.push(id);
            }
            if kind != Kind::Read && kind != Kind::AtomicRead {
                cell.writes.push(id);
            }
            from = to;
        }
    }
    cells
}

/// The cell's part of a value of an access.
fn part(formula: &Formula<'_>, id: NodeId, value: &BV, address: u64, size: u8) -> BV {
    let object = formula
        .forest
        .node(id)
        .action()
        .map_or(address, |a| a.object);
    let low = 8 * (address - object) as u32;
    if value.get_size() == 8 * u32::from(size) {
        return value.clone();
    }
    value.extract(low + 8 * u32::from(size) - 1, low)
}

fn written(formula: &mut Formula<'_>, id: NodeId, address: u64, size: u8) -> Option<BV> {
    let term = formula.forest.node(id).action()?.term?;
    let value = formula.value(term);
    Some(part(formula, id, &value, address, size))
}

fn read_from(formula: &mut Formula<'_>, address: u64, cell: &Cell, read: NodeId) {
    let Some(action) = formula.forest.node(read).action() else {
        return;
    };
    let whole = read_value(read, 8 * action.size);
    let got = part(formula, read, &whole, address, cell.size);
    let (sources, hiding) = sources(formula, cell, read);
    let mut options = Vec::new();
    for &source in &sources {
        let Some(value) = written(formula, source, address, cell.size) else {
            continue;
        };
        let mut parts = vec![
            formula.executed(source),
            formula.precedes(source, read),
            equal(&got, &value),
        ];
        if let Some(own) = hiding.filter(|&own| own != source) {
            parts.push(formula.precedes(own, source));
        }
        undisturbed(formula, &sources, hiding, Some(source), read, &mut parts);
        options.push(all(&parts));
    }
    if hiding.is_none() {
        let mut parts = vec![initial(formula, address, cell.size, &got)];
        undisturbed(formula, &sources, hiding, None, read, &mut parts);
        options.push(all(&parts));
    }
    let fact = formula.executed(read).implies(&any(&options));
    formula.solver.assert(&fact);
}

/// The writes from which a read can get its value, and the one among them that is always before
/// the read and hides the initial value.
fn sources(formula: &Formula<'_>, cell: &Cell, read: NodeId) -> (Vec<NodeId>, Option<NodeId>) {
    let shape = &formula.shape;
    let mut hiding: Option<NodeId> = None;
    for &write in &cell.writes {
        if shape.before(write, read) && hiding.is_none_or(|h| shape.before(h, write)) {
            hiding = Some(write);
        }
    }
    let possible = |w: &NodeId| {
        *w != read
            && !shape.exclusive(*w, read)
            && !shape.before(read, *w)
            && !hiding.is_some_and(|h| shape.before(*w, h))
    };
    let sources = cell.writes.iter().copied().filter(possible).collect();
    (sources, hiding)
}

/// No other write lies between the source (or the start) and the read.
fn undisturbed(
    formula: &Formula<'_>,
    sources: &[NodeId],
    hiding: Option<NodeId>,
    source: Option<NodeId>,
    read: NodeId,
    parts: &mut Vec<Bool>,
) {
    let shape = &formula.shape;
    for &other in sources {
        if Some(other) == source || Some(other) == hiding {
            continue;
        }
        let absent = formula.executed(other).not();
        let after = formula.precedes(read, other);
        match source {
            None => parts.push(any(&[absent, after])),
            Some(s) if shape.before(other, s) || shape.exclusive(other, s) => {}
            Some(s) if shape.before(s, other) => parts.push(any(&[absent, after])),
            Some(s) => parts.push(any(&[absent, formula.precedes(other, s), after])),
        }
    }
}

/// The value is the initial one. Bytes of which that is not known can have any.
fn initial(formula: &Formula<'_>, address: u64, size: u8, got: &BV) -> Bool {
    let mut parts = Vec::new();
    for i in 0..size {
        let byte = got.extract(8 * u32::from(i) + 7, 8 * u32::from(i));
        if let Some(values) = formula.forest.init.get(&(address + u64::from(i))) {
            let is = |v: &u8| equal(&byte, &constant(u64::from(*v), 8));
            parts.push(any(&values.iter().map(is).collect::<Vec<_>>()));
        }
    }
    all(&parts)
}
