//! Which write a read gets its value from.
//!
//! The bytes that are accessed are cut into cells at every first and last byte of an access, so
//! an access covers whole cells. For each cell and each place that reads it, one of the places
//! that write it is chosen: the write is executed, before the read, has the value that the read
//! returns there, and no other write of another value to the cell lies between: which of several
//! writes of one value it is does not matter. Left out are pairs whose order program order and
//! creation fix, threads that exclude each other, and what a write of the same path hides.

use super::forest::NodeId;
use super::formula::{Formula, read_value};
use super::insert::is_access;
use super::places::Place;
use super::solver::{BV, Bool, all, any, constant, equal};
use raddle_protocol::event::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// Accesses of one cell, by place.
#[derive(Default)]
struct Cell {
    size: u8,
    reads: BTreeMap<Place, Vec<NodeId>>,
    writes: BTreeMap<Place, Vec<NodeId>>,
}

/// A place that writes a cell.
struct Write {
    place: Place,
    executed: Bool,
    value: BV,
}

/// Constraints of reads, counted roughly, that a formula may have.
const LIMIT: usize = 4_000_000;

/// Adds the constraints of all reads; `false`, and adds none, if they are too many.
pub fn constrain(formula: &mut Formula<'_>) -> bool {
    let cells = cells(formula);
    let pairs = |c: &Cell| c.reads.len().saturating_mul(c.writes.len().pow(2));
    if cells.values().map(pairs).sum::<usize>() > LIMIT {
        return false;
    }
    for (address, cell) in cells {
        if cell.reads.is_empty() {
            continue;
        }
        let writes: Vec<Write> = cell
            .writes
            .iter()
            .map(|(&place, nodes)| write(formula, address, cell.size, place, nodes))
            .collect();
        for (&place, nodes) in &cell.reads {
            read(formula, address, &cell, &writes, place, nodes);
        }
    }
    true
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
        let place = formula.forest.place(id);
        let mut from = start;
        for &to in cuts.range(start + 1..=end) {
            let cell = cells.entry(from).or_default();
            cell.size = (to - from) as u8;
            if kind != Kind::Write && kind != Kind::AtomicWrite {
                cell.reads.entry(place).or_default().push(id);
            }
            if kind != Kind::Read && kind != Kind::AtomicRead {
                cell.writes.entry(place).or_default().push(id);
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

/// The write of a place: when it is executed, and its value, which depends on the path.
fn write(
    formula: &mut Formula<'_>,
    address: u64,
    size: u8,
    place: Place,
    nodes: &[NodeId],
) -> Write {
    let executed: Vec<Bool> = nodes.iter().map(|&n| formula.executed(n)).collect();
    let mut values: Vec<(Bool, BV)> = Vec::new();
    for (&id, exec) in nodes.iter().zip(&executed) {
        let term = formula.forest.node(id).action().and_then(|a| a.term);
        if let Some(term) = term {
            let value = formula.value(term);
            let value = part(formula, id, &value, address, size);
            match values.iter_mut().find(|v| v.1 == value) {
                Some(same) => same.0 = any(&[same.0.clone(), exec.clone()]),
                None => values.push((exec.clone(), value)),
            }
        }
    }
    let value = match &values[..] {
        [(_, only)] => only.clone(),
        many => {
            let name = format!("w{}_{}_{address}", place.tree, place.step);
            let value = BV::new_const(name, 8 * u32::from(size));
            for (exec, is) in many {
                formula.solver.assert(&exec.implies(equal(&value, is)));
            }
            value
        }
    };
    Write {
        place,
        executed: any(&executed),
        value,
    }
}

fn read(
    formula: &mut Formula<'_>,
    address: u64,
    cell: &Cell,
    writes: &[Write],
    place: Place,
    nodes: &[NodeId],
) {
    let hiding = hiding(formula, cell, nodes);
    let sources: Vec<&Write> = writes
        .iter()
        .filter(|w| can_reach(formula, w.place, place, hiding))
        .collect();
    // Accesses of one place can differ in size and address: each names its own value.
    let mut got: Vec<(BV, Vec<Bool>)> = Vec::new();
    for &id in nodes {
        let exec = formula.executed(id);
        let width = formula.forest.node(id).action().map_or(8, |a| 8 * a.size);
        let value = part(formula, id, &read_value(place, width), address, cell.size);
        match got.iter_mut().find(|g| g.0 == value) {
            Some(same) => same.1.push(exec),
            None => got.push((value, vec![exec])),
        }
    }
    for (value, execs) in got {
        let mut options = Vec::new();
        for &source in &sources {
            let mut parts = vec![
                source.executed.clone(),
                formula.precedes(source.place, place),
                equal(&value, &source.value),
            ];
            undisturbed(formula, &sources, Some(source), place, &mut parts);
            options.push(all(&parts));
        }
        if hiding.is_none() {
            let mut parts = vec![initial(formula, address, cell.size, &value)];
            undisturbed(formula, &sources, None, place, &mut parts);
            options.push(all(&parts));
        }
        let fact = any(&execs).implies(any(&options));
        formula.solver.assert(&fact);
    }
}

/// The last place that is before all these nodes on their paths and writes the cell on all of
/// them.
fn hiding(formula: &Formula<'_>, cell: &Cell, nodes: &[NodeId]) -> Option<Place> {
    let mut common: Option<BTreeSet<Place>> = None;
    for &node in nodes {
        let mut places = BTreeSet::new();
        let mut at = formula.previous(node);
        while let Some(above) = at {
            let place = formula.forest.place(above);
            if cell.writes.get(&place).is_some_and(|w| w.contains(&above)) {
                places.insert(place);
            }
            at = formula.previous(above);
        }
        common = Some(match common {
            None => places,
            Some(others) => &others & &places,
        });
    }
    let mut last: Option<Place> = None;
    for place in common.unwrap_or_default() {
        if last.is_none_or(|l| formula.forest.before(l, place)) {
            last = Some(place);
        }
    }
    last
}

/// Can the read see this write?
fn can_reach(formula: &Formula<'_>, write: Place, read: Place, hiding: Option<Place>) -> bool {
    let forest = formula.forest;
    write != read
        && !forest.before(read, write)
        && !hiding.is_some_and(|h| forest.before(write, h))
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
    let forest = formula.forest;
    for other in sources {
        let place = other.place;
        if source.is_some_and(|s| s.place == place || s.value == other.value) {
            continue;
        }
        let mut options = vec![other.executed.not()];
        if let Some(source) = source.map(|s| s.place) {
            if forest.before(place, source) || !formula.coexist(place.tree, source.tree) {
                continue;
            }
            if !forest.before(source, place) {
                options.push(formula.precedes(place, source));
            }
        }
        if !forest.before(place, read) {
            options.push(formula.precedes(read, place));
        }
        parts.push(any(&options));
    }
}

/// The value is the initial one. Bytes of which that is not known can have any.
fn initial(formula: &mut Formula<'_>, address: u64, size: u8, got: &BV) -> Bool {
    let mut parts = Vec::new();
    for i in 0..size {
        let byte = got.extract(8 * u32::from(i) + 7, 8 * u32::from(i));
        if let Some(values) = formula.forest.init.get(&(address + u64::from(i))) {
            if values.len() > 1 {
                formula.unsteady.insert(address);
            }
            let is = |v: &u8| equal(&byte, &constant(u64::from(*v), 8));
            parts.push(any(&values.iter().map(is).collect::<Vec<_>>()));
        }
    }
    all(&parts)
}
