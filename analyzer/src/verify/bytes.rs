//! The memory of synchronisation objects, which a program may also access as it does variables: a once
//! control that is assigned anew, a lock in a structure that is copied.
//!
//! The formula keeps what an object holds apart from the bytes that it lies in. What comes of an
//! operation may depend on whether such an access came before it; where that is so ([`query`]), the
//! verdict has a bound.

use super::circuit::{Bool, all, any};
use super::forest::{Action, Forest, NodeId, TreeId};
use super::formula::Formula;
use super::hazards;
use super::kinds::is_access;
use super::sat::holds;
use super::solver::Answer;
use crate::inuse::{self, Memory};
use crate::stop;
use raddle_protocol::conflict::Access;
use raddle_protocol::event::{Event, Kind};
use std::ops::Range;

/// An operation on an object, and an access to the object's memory: what would show that the object is more
/// than what its operations tell.
enum Trouble {
    /// This is reachable.
    If(Bool),
    /// Each of these two is, in executions of their own.
    IfBoth(Bool, Bool),
}

/// Can an access to the memory of an object come where what it does to the object matters? `None`: the solver
/// gave up.
///
/// A read must not come behind an operation, unless its own thread has written what it reads in between. A
/// write of another thread must not come while a thread waits in an operation, nor in both orders with the
/// operation; where that thread has written to the object before (its initialisation), not now between the
/// two and now before or behind them.
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
    let (mut certain, mut left) = (Vec::new(), Vec::new());
    for trouble in troubles(formula) {
        match trouble {
            Trouble::If(condition) => certain.push(condition),
            Trouble::IfBoth(late, early) => left.push((late, early)),
        }
    }
    if !certain.is_empty() && under(&any(&certain))?.is_some() {
        return Some(true);
    }
    while !left.is_empty() {
        let late: Vec<Bool> = left.iter().map(|l| l.0.clone()).collect();
        let Some(model) = under(&any(&late))? else {
            break;
        };
        let shown = |l: &mut (Bool, Bool)| holds(&model, &l.0);
        let early: Vec<Bool> = left.extract_if(.., shown).map(|l| l.1).collect();
        if early.is_empty() || under(&any(&early))?.is_some() {
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

/// The second step comes behind the first, and not behind the third, at which its thread stands at least.
fn between(formula: &Formula<'_>, first: Option<NodeId>, second: NodeId, third: NodeId) -> Bool {
    let place = |id| formula.forest.place(id);
    let after = first.map_or(Bool::from_bool(true), |first| {
        formula.precedes(place(first), place(second))
    });
    all(&[order(formula, second, third), after])
}

fn troubles(formula: &Formula<'_>) -> Vec<Trouble> {
    let forest = formula.forest;
    let step = |id: NodeId| forest.node(id).action().map(|action| (id, action));
    let steps = || (0..forest.nodes.len() as NodeId).filter_map(step);
    let operations = || {
        let followed = |action: &Action| forest.followed.contains(&action.object);
        let each = steps().filter(move |(_, action)| !followed(action));
        each.flat_map(|(id, action)| {
            let objects = inuse::objects(action.kind, action.object, action.value);
            objects.map(move |object| (id, object))
        })
    };
    let memory = Memory::of(operations().map(|(_, object)| object));
    let access = |(id, action): (NodeId, &Action)| {
        let bytes = action.object..action.object.saturating_add(action.size.into());
        (is_access(action.kind) && memory.meets(&bytes)).then_some((id, bytes))
    };
    let accesses: Vec<(NodeId, Range<u64>)> = steps().filter_map(access).collect();
    if accesses.is_empty() {
        return Vec::new();
    }
    let mut troubles = Vec::new();
    for (operation, object) in operations() {
        for (access, _) in accesses.iter().filter(|a| inuse::meet(&object, &a.1)) {
            stop::point();
            troubles.extend(trouble(formula, (operation, &object), *access));
        }
    }
    troubles
}

fn trouble(
    formula: &Formula<'_>,
    (operation, object): (NodeId, &Range<u64>),
    access: NodeId,
) -> Option<Trouble> {
    let forest = formula.forest;
    let [here, there] = [operation, access].map(|id| forest.place(id));
    let kind = forest.node(operation).action()?.kind;
    let accessed = forest.node(access).action()?;
    let comes_first = formula.before(there, here);
    let alone = here.tree == there.tree;
    if !alone && !formula.coexist(here.tree, there.tree) {
        return None;
    }
    if !is_write(accessed) {
        let own = last_written(formula, access, accessed.object, accessed.size.into());
        let is_own = own.is_some_and(|own| formula.before(here, forest.place(own)));
        let may_follow = !comes_first && !is_own;
        return may_follow.then(|| Trouble::If(order(formula, operation, access)));
    }
    if alone || formula.before(here, there) {
        return None;
    }
    let own = last_written(formula, operation, object.start, 1);
    let last = hazards::last_step(formula, operation);
    if last.is_some_and(|last| formula.before(there, forest.place(last))) && own.is_none() {
        return None;
    }
    let meanwhile = inuse::waits(kind).then(|| between(formula, last, access, operation));
    let late = || order(formula, operation, access);
    let (one, other) = match own {
        Some(own) if formula.before(there, forest.place(own)) => return None,
        Some(own) => {
            let outside = any(&[late(), order(formula, access, own)]);
            (between(formula, Some(own), access, operation), outside)
        }
        None if comes_first => return meanwhile.map(Trouble::If),
        None => (late(), order(formula, access, operation)),
    };
    let or_meanwhile = |order: Bool| any(&[&[order][..], meanwhile.as_slice()].concat());
    Some(Trouble::IfBoth(or_meanwhile(one), or_meanwhile(other)))
}

fn is_write(action: &Action) -> bool {
    matches!(action.kind, Kind::Write | Kind::AtomicWrite)
}

/// The last of the thread's own writes before it stands here that cover these bytes.
fn last_written(formula: &Formula<'_>, id: NodeId, at: u64, bytes: u64) -> Option<NodeId> {
    let forest = formula.forest;
    let parent = |&at: &NodeId| forest.node(at).parent.map(|parent| parent.0);
    let mut above = std::iter::successors(parent(&id), parent);
    above.find(|&node| {
        forest.node(node).action().is_some_and(|a| {
            let covers = a.object <= at && at - a.object + bytes <= u64::from(a.size);
            covers && is_write(a)
        })
    })
}

/// The memory that a step is about: that of an access, or of the objects that it operates on.
pub fn touched(action: &Action) -> impl Iterator<Item = Range<u64>> {
    let access = action.object..action.object.saturating_add(action.size.into());
    let access = Some(access).filter(|_| is_access(action.kind));
    let objects = inuse::objects(action.kind, action.object, action.value);
    access.into_iter().chain(objects)
}

impl Forest {
    /// Notes that a thread operates on objects: their memory is shared if others access it.
    pub fn operate(&mut self, event: &Event, kind: Kind, tree: TreeId) {
        let is_once = matches!(kind, Kind::OnceEnter | Kind::OnceDone);
        if is_once && event.size == Event::FOLLOWED_GUARD {
            self.followed.insert(event.object);
            return;
        }
        for object in inuse::objects(kind, event.object, event.value) {
            self.touch(object.start, object.end, tree, Access::Adds);
        }
    }
}
