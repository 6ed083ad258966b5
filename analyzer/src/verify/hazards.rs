//! Orders of steps that would be errors: a mutex that is destroyed or initialised while others
//! use it, memory that is used or freed after it was freed.
//!
//! The formula takes such steps for harmless. So it is asked whether a wrong order is reachable,
//! and if so, an execution shows what becomes of it.

use super::forest::NodeId;
use super::formula::Formula;
use super::insert::is_access;
use super::plan::{Plan, executed, follow};
use super::solver::{Answer, Bool, Effort, Limits, all, any, holds};
use raddle_protocol::event::Kind;
use raddle_protocol::job::push_step;
use std::collections::HashSet;

/// Two steps of different threads; the first must not come before the second.
pub type Hazard = (NodeId, NodeId);

/// Result of a query.
pub enum Found {
    /// A job that takes these steps in their wrong order.
    Yes(Plan, Hazard),
    No,
    Unknown,
}

/// Looks for a hazard that is not among the `known`.
pub fn query(
    formula: &Formula<'_>,
    known: &HashSet<Hazard>,
    limits: Limits<'_>,
    effort: &mut Effort,
) -> Found {
    let hazards: Vec<(Hazard, Bool)> = hazards(formula)
        .into_iter()
        .filter(|h| !known.contains(h))
        .map(|h| (h, condition(formula, h)))
        .collect();
    if hazards.is_empty() {
        return Found::No;
    }
    let conditions: Vec<Bool> = hazards.iter().map(|h| h.1.clone()).collect();
    formula.solver.push();
    formula.solver.assert(&any(&conditions));
    let answer = formula.solver.check(limits, effort);
    formula.solver.pop();
    match answer {
        Answer::Sat(model) => match hazards.iter().find(|h| holds(&model, &h.1)) {
            Some((hazard, _)) => {
                let steps = executed(formula, &model);
                let mut plan = follow(formula, &model, &steps);
                if !steps.contains(&hazard.1) {
                    let tree = formula.forest.node(hazard.1).tree;
                    push_step(&mut plan.prefix, formula.forest.tree(tree).slot);
                }
                Found::Yes(plan, *hazard)
            }
            None => Found::Unknown,
        },
        Answer::Unsat => Found::No,
        Answer::Unknown => Found::Unknown,
    }
}

/// The first step is executed and the second is not before it: its thread stands there at most.
/// (Its execution may be the end of the process, so the formula need not know what follows.)
fn condition(formula: &Formula<'_>, (first, second): Hazard) -> Bool {
    let order = formula.precedes(formula.forest.place(first), formula.forest.place(second));
    let later = any(&[formula.executed(second).not(), order]);
    let reached = formula.at[second as usize].clone();
    all(&[formula.executed(first), reached, later])
}

fn hazards(formula: &Formula<'_>) -> Vec<Hazard> {
    let forest = formula.forest;
    let steps: Vec<NodeId> = (0..forest.nodes.len() as NodeId)
        .filter(|&id| forest.node(id).action().is_some())
        .collect();
    let mut hazards = Vec::new();
    for &breaking in steps.iter().filter(|&&id| breaks(formula, id)) {
        for &other in &steps {
            let Some(hazard) = hazard(formula, breaking, other) else {
                continue;
            };
            let (a, b) = (forest.place(hazard.0), forest.place(hazard.1));
            if a.tree != b.tree && formula.coexist(a.tree, b.tree) && !forest.before(b, a) {
                hazards.push(hazard);
            }
        }
    }
    hazards
}

/// Is this a step that others of its object must be in order with?
fn breaks(formula: &Formula<'_>, id: NodeId) -> bool {
    let action = formula.forest.node(id).action();
    action.is_some_and(|a| matches!(a.kind, Kind::MutexInit | Kind::MutexDestroy | Kind::Free))
}

/// The wrong order of a breaking step and another one, if they have one.
fn hazard(formula: &Formula<'_>, breaking: NodeId, other: NodeId) -> Option<Hazard> {
    use Kind::{Free, MutexDestroy, MutexInit, MutexLock, MutexTryLock, MutexUnlock};
    let a = formula.forest.node(breaking).action()?;
    let b = formula.forest.node(other).action()?;
    let uses = matches!(b.kind, MutexLock | MutexTryLock | MutexUnlock) && a.object == b.object;
    let inside = b.object >= a.object && b.object - a.object < a.value.max(1)
        || a.object >= b.object && a.object - b.object < u64::from(b.size);
    match a.kind {
        MutexInit if uses => Some((other, breaking)),
        MutexDestroy if uses => Some((breaking, other)),
        MutexDestroy if b.kind == MutexDestroy && a.object == b.object => Some((breaking, other)),
        Free if is_access(b.kind) && inside => Some((breaking, other)),
        Free if b.kind == Free && a.object == b.object => Some((breaking, other)),
        _ => None,
    }
}
