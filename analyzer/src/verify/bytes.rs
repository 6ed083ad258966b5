//! The memory of synchronisation objects, which a program may also access as it does variables: a once
//! control that is assigned anew, a lock in a structure that is copied.
//!
//! The formula keeps what an object holds apart from the bytes that it lies in. What comes of an
//! operation may depend on whether such an access came before it; so where both orders are possible,
//! the verdict has a bound.

use super::circuit::{Bool, all, any};
use super::forest::{Action, Forest, NodeId, TreeId};
use super::formula::Formula;
use super::kinds::is_access;
use super::sat::holds;
use super::solver::Answer;
use crate::stop;
use raddle_protocol::conflict::{Access, Footprint, Unrecorded};
use raddle_protocol::event::{Event, Kind};
use std::ops::Range;

/// Why the verdict is not the full one.
pub const PLAINLY: &str = "memory of a synchronisation object accessed while others use it";

/// An operation on an object, and an access to the object's memory.
struct Pair {
    operation: NodeId,
    access: NodeId,
}

/// Can an operation on an object and a write of another thread to its memory come in both orders, or a
/// read behind an operation, with no write of its own thread between the two? `None`: the solver gave up.
pub fn query(formula: &Formula<'_>, mut check: impl FnMut(&Formula<'_>) -> Answer) -> Option<bool> {
    let mut under = |condition: &Bool| {
        formula.solver.push();
        formula.solver.assert(condition);
        let answer = check(formula);
        formula.solver.pop();
        match answer {
            Answer::Sat(model) => Some(Some(model)),
            Answer::Unsat => Some(None),
            Answer::Unknown => None,
        }
    };
    let with_order = |pair: Pair| {
        let late = order(formula, pair.operation, pair.access);
        (pair, late)
    };
    let mut left: Vec<(Pair, Bool)> = pairs(formula).into_iter().map(with_order).collect();
    while !left.is_empty() {
        let conditions: Vec<Bool> = left.iter().map(|l| l.1.clone()).collect();
        let Some(model) = under(&any(&conditions))? else {
            break;
        };
        let shown = |l: &mut (Pair, Bool)| holds(&model, &l.1);
        let late: Vec<(Pair, Bool)> = left.extract_if(.., shown).collect();
        let early = late
            .iter()
            .map(|(pair, _)| match reads(formula, pair.access) {
                true => Bool::from_bool(true),
                false => order(formula, pair.access, pair.operation),
            });
        let early: Vec<Bool> = early.collect();
        if late.is_empty() || under(&any(&early))?.is_some() {
            return Some(true);
        }
    }
    Some(false)
}

/// The first step is executed and the second is not before it: its thread stands there at least.
fn order(formula: &Formula<'_>, first: NodeId, second: NodeId) -> Bool {
    let forest = formula.forest;
    let after = formula.precedes(forest.place(first), forest.place(second));
    let reached = formula.at[second as usize].clone();
    let late = any(&[formula.executed(second).not(), after]);
    all(&[formula.executed(first), reached, late])
}

/// The pairs of which both orders may matter.
fn pairs(formula: &Formula<'_>) -> Vec<Pair> {
    let forest = formula.forest;
    let step = |id: NodeId| forest.node(id).action().map(|action| (id, action));
    let steps = || (0..forest.nodes.len() as NodeId).filter_map(step);
    let accesses: Vec<(NodeId, &Action)> = steps().filter(|s| is_access(s.1.kind)).collect();
    let mut pairs = Vec::new();
    for (operation, action) in steps() {
        if forest.followed.contains(&action.object) {
            continue;
        }
        for object in objects(action.kind, action.object, action.value) {
            for &(access, a) in &accesses {
                stop::point();
                let end = a.object.saturating_add(a.size.into());
                let meets = a.object < object.end && object.start < end;
                if meets && matters(formula, operation, access) {
                    pairs.push(Pair { operation, access });
                }
            }
        }
    }
    pairs
}

fn matters(formula: &Formula<'_>, operation: NodeId, access: NodeId) -> bool {
    let [here, there] = [operation, access].map(|id| formula.forest.place(id));
    let fit = here.tree == there.tree || formula.coexist(here.tree, there.tree);
    if !fit || formula.before(there, here) {
        return false;
    }
    match reads(formula, access) {
        true => !is_written_between(formula, operation, access),
        false => here.tree != there.tree && !formula.before(here, there),
    }
}

fn reads(formula: &Formula<'_>, access: NodeId) -> bool {
    let kind = formula.forest.node(access).action().map(|a| a.kind);
    !matches!(kind, Some(Kind::Write | Kind::AtomicWrite))
}

/// Does the reading thread itself always write, behind the operation, what it reads?
fn is_written_between(formula: &Formula<'_>, operation: NodeId, read: NodeId) -> bool {
    let forest = formula.forest;
    let Some(wanted) = forest.node(read).action() else {
        return false;
    };
    let parent = |&at: &NodeId| forest.node(at).parent.map(|parent| parent.0);
    let mut above = std::iter::successors(parent(&read), parent);
    above.any(|at| {
        let is_write = |a: &&Action| matches!(a.kind, Kind::Write | Kind::AtomicWrite);
        let written = forest.node(at).action().filter(is_write);
        written.is_some_and(|a| {
            let covers = a.object <= wanted.object
                && wanted.object - a.object + u64::from(wanted.size) <= u64::from(a.size);
            covers && formula.before(forest.place(operation), forest.place(at))
        })
    })
}

/// The memory that a step is about: that of an access, or of the objects that it operates on.
pub fn touched(action: &Action) -> impl Iterator<Item = Range<u64>> {
    let access = action.object..action.object.saturating_add(action.size.into());
    let access = Some(access).filter(|_| is_access(action.kind));
    access
        .into_iter()
        .chain(objects(action.kind, action.object, action.value))
}

/// The memory of the objects that an operation is about. `value`: as [`Action::value`].
pub fn objects(kind: Kind, object: u64, value: u64) -> impl Iterator<Item = Range<u64>> {
    let event = Event {
        kind: kind as u8,
        object,
        value,
        ..Event::default()
    };
    let footprint = kind
        .operates()
        .then(|| Footprint::of(&event, Unrecorded::default()));
    let parts = footprint.into_iter().flat_map(Footprint::memory);
    // A wait that ends does not name its mutex.
    parts.filter(|part| part.start != 0)
}

impl Forest {
    /// Notes that a thread operates on objects: their memory is shared if others access it.
    pub fn operate(&mut self, event: &Event, kind: Kind, tree: TreeId) {
        let is_once = matches!(kind, Kind::OnceEnter | Kind::OnceDone);
        if is_once && event.size == Event::FOLLOWED_GUARD {
            self.followed.insert(event.object);
            return;
        }
        for object in objects(kind, event.object, event.value) {
            self.touch(object.start, object.end, tree, Access::Adds);
        }
    }
}
