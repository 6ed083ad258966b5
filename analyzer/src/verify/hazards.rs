//! Orders of steps that would be errors: a synchronisation object that is destroyed, or a mutex
//! that is initialised, while others use it, memory that is used or freed after it was freed, or used
//! after it was unmapped or protected, or on the stack of a thread that has ended, a thread that is joined
//! after it was joined or detached.
//!
//! The formula takes such steps for harmless. So it is asked whether a wrong order is reachable,
//! and if so, an execution shows what becomes of it.

use super::bytes::touched;
use super::circuit::{Bool, all, any};
use super::forest::{Action, NodeId};
use super::formula::Formula;
use super::kinds::{UNKNOWN, is_access};
use super::locks::lock_of;
use super::plan::{Found, follow};
use super::sat::holds;
use super::solver::Answer;
use crate::inuse::meet;
use crate::stop;
use raddle_protocol::event::Kind;
use raddle_protocol::job::push_step;
use raddle_protocol::{slot, stack};
use std::collections::HashSet;
use std::ops::Range;

/// Two steps of different threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Hazard {
    first: NodeId,
    /// Must not come after the first; if that `waits`, must not come while it does.
    second: NodeId,
    waits: bool,
    /// The order is right, but what becomes of the second step depends on it: memory that is used after a
    /// call that acts on its pages.
    pub right: bool,
}

/// Looks for a hazard that is not among the `known`. `check` asks the formula.
pub fn query(
    formula: &Formula<'_>,
    known: &HashSet<Hazard>,
    check: impl FnOnce(&Formula<'_>) -> Answer,
) -> Found<Hazard> {
    let hazards: Vec<(Hazard, Bool)> = hazards(formula)
        .into_iter()
        .filter(|h| !known.contains(h))
        .map(|h| (h, h.condition(formula)))
        .collect();
    if hazards.is_empty() {
        return Found::No;
    }
    let conditions: Vec<Bool> = hazards.iter().map(|h| h.1.clone()).collect();
    formula.solver.push();
    formula.exclude_idle_rounds();
    formula.solver.assert(&any(&conditions));
    let answer = check(formula);
    formula.solver.pop();
    match answer {
        Answer::Sat(model) => match hazards.iter().find(|h| holds(&model, &h.1)) {
            Some((hazard, _)) => {
                let steps = formula.sequence(&model);
                let mut plan = follow(formula, &model, &steps);
                if !steps.contains(&hazard.second) {
                    let tree = formula.forest.node(hazard.second).tree;
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

impl Hazard {
    /// Of these steps, whatever they are.
    #[cfg(test)]
    pub fn of(first: NodeId, second: NodeId) -> Hazard {
        Hazard {
            first,
            second,
            waits: false,
            right: true,
        }
    }

    /// In the order in which they were to come.
    pub fn steps(self) -> [NodeId; 2] {
        [self.first, self.second]
    }

    /// The first step is executed (or waits) and the second is not before it: its thread stands
    /// there at most. (Its execution may be the end of the process, so the formula need not know
    /// what follows.)
    fn condition(self, formula: &Formula<'_>) -> Bool {
        let (first, second) = (self.first, self.second);
        let reached = formula.at[second as usize].clone();
        let before = formula.executed(second).not();
        if self.waits {
            return all(&[formula.stuck_at(first), reached, before]);
        }
        let order = formula.precedes(formula.forest.place(first), formula.forest.place(second));
        let late = match self.right {
            // A section that the first step lies in has to be over.
            true => all(&[formula.executed(second), order]),
            false => any(&[before, order]),
        };
        let mut conditions = vec![formula.executed(first), reached, late];
        conditions.push(formula.joins(first));
        conditions.extend(renewals(formula, self).iter().map(Bool::not));
        all(&conditions)
    }
}

/// Between this step and the one that must not come after it, the object began anew: it was initialised
/// after it was destroyed, by whomever, or it was destroyed after its use and before it was initialised.
/// (As long as that has not happened, the model of what came before says that the order is wrong.)
fn renewals(formula: &Formula<'_>, hazard: Hazard) -> Vec<Bool> {
    let forest = formula.forest;
    let [Some(first), Some(second)] =
        [hazard.first, hazard.second].map(|id| forest.node(id).action())
    else {
        return Vec::new();
    };
    let here = forest.place(hazard.first);
    let steps = |kind: Kind, object: u64| {
        let is_this = move |a: &Action| a.kind == kind && a.object == object;
        let ids = 0..forest.nodes.len() as NodeId;
        let ids = ids.filter(move |&id| forest.node(id).action().is_some_and(is_this));
        ids.map(move |id| {
            let after = formula.precedes(here, forest.place(id));
            all(&[formula.executed(id), after])
        })
    };
    if destroys(first.kind) {
        let begins = forest.begins.get(&first.object).into_iter().flatten();
        let reached = begins.filter_map(|&id| {
            // The object is initialised as soon as this step is taken. If the object is destroyed in it,
            // others that stand at their use by then may come in between.
            let last = match last_step(formula, id)? {
                step if step == hazard.first => last_step(formula, hazard.second)?,
                step => step,
            };
            let after = formula.precedes(here, forest.place(last));
            Some(all(&[formula.at[id as usize].clone(), after]))
        });
        return reached
            .chain(steps(Kind::MutexInit, first.object))
            .collect();
    }
    match second.kind {
        Kind::MutexInit => steps(Kind::MutexDestroy, second.object).collect(),
        _ => Vec::new(),
    }
}

/// The last step before a thread stands here, which may be the one that creates it; `None`: there is
/// none.
pub fn last_step(formula: &Formula<'_>, id: NodeId) -> Option<NodeId> {
    let forest = formula.forest;
    let parent = |&at: &NodeId| forest.node(at).parent.map(|parent| parent.0);
    let mut above = std::iter::successors(parent(&id), parent);
    let step = above.find(|&at| forest.node(at).action().is_some());
    step.or(forest.tree(forest.node(id).tree).create)
}

fn hazards(formula: &Formula<'_>) -> Vec<Hazard> {
    let forest = formula.forest;
    let steps: Vec<NodeId> = (0..forest.nodes.len() as NodeId)
        .filter(|&id| forest.node(id).action().is_some())
        .collect();
    let mut hazards = Vec::new();
    for &breaking in steps.iter().filter(|&&id| breaks(formula, id)) {
        for &other in &steps {
            stop::point();
            for hazard in of_pair(formula, breaking, other) {
                let (a, b) = (forest.place(hazard.first), forest.place(hazard.second));
                if a.tree != b.tree && formula.coexist(a.tree, b.tree) && !formula.before(b, a) {
                    hazards.push(hazard);
                }
            }
        }
    }
    hazards
}

/// Is this a step that others of its object must be in order with?
fn breaks(formula: &Formula<'_>, id: NodeId) -> bool {
    let action = formula.forest.node(id).action();
    action.is_some_and(|a| gives_up(a.kind) || destroys(a.kind))
}

fn gives_up(kind: Kind) -> bool {
    use Kind::{Free, MutexInit, Remap, ThreadDetach, ThreadExit};
    kind.joins() || matches!(kind, MutexInit | Free | Remap | ThreadDetach | ThreadExit)
}

fn gives_up_thread(kind: Kind) -> bool {
    kind.joins() || kind == Kind::ThreadDetach
}

fn destroys(kind: Kind) -> bool {
    use Kind::{BarrierDestroy, CondDestroy, MutexDestroy, RwDestroy, SemDestroy, SpinDestroy};
    matches!(
        kind,
        MutexDestroy | CondDestroy | SemDestroy | RwDestroy | BarrierDestroy | SpinDestroy
    )
}

/// The statement of a join that the program did not ask for: of main, which has left by
/// `pthread_exit`, with a thread that may be detached.
const NO_CALL: u64 = 0;

/// The wrong orders of a breaking step and another one.
fn of_pair(formula: &Formula<'_>, breaking: NodeId, other: NodeId) -> Vec<Hazard> {
    let hazard = |first, second, waits| Hazard {
        first,
        second,
        waits,
        right: false,
    };
    let actions = [breaking, other].map(|id| formula.forest.node(id).action());
    let [Some(a), Some(b)] = actions else {
        return Vec::new();
    };
    let block = a.object..a.object.saturating_add(a.value.max(1));
    let inside = || touched(b).any(|bytes| meet(&bytes, &block));
    match a.kind {
        // A block of another size where it lies is still there.
        Kind::Free if a.value == 0 => Vec::new(),
        Kind::Free if b.kind == Kind::Free && a.object == b.object || inside() => {
            vec![hazard(breaking, other, false)]
        }
        // Main's stack outlasts main.
        Kind::ThreadExit => {
            let tree = formula.forest.place(breaking).tree;
            let whose = Some(formula.forest.tree(tree).slot).filter(|&slot| slot != slot::MAIN);
            let on_stack = |bytes: Range<u64>| stack::slot_of(bytes.start) == whose;
            let found = whose.is_some() && touched(b).any(on_stack);
            let found = found.then(|| hazard(breaking, other, false));
            found.into_iter().collect()
        }
        Kind::Remap if inside() => {
            let right = hazard(breaking, other, false);
            vec![Hazard {
                right: true,
                ..right
            }]
        }
        Kind::MutexInit if uses_mutex(b.kind) && lock_of(b) == a.object => {
            vec![hazard(other, breaking, false)]
        }
        Kind::MutexDestroy if uses_mutex(b.kind) && lock_of(b) == a.object => {
            vec![hazard(breaking, other, false)]
        }
        kind if gives_up_thread(kind)
            && gives_up_thread(b.kind)
            && [a.kind, b.kind] != [Kind::ThreadDetach; 2]
            && a.value == b.value
            && a.value != UNKNOWN
            && [breaking, other]
                .iter()
                .all(|&id| formula.forest.node(id).pc != NO_CALL) =>
        {
            vec![hazard(breaking, other, false)]
        }
        kind if destroys(kind) && a.object == b.object && !follows_destruction(b.kind) => {
            let mut found = Vec::new();
            // Who was signalled does not touch the condition any more.
            if b.kind != Kind::CondWake && b.kind != Kind::BarrierLeave {
                found.push(hazard(breaking, other, false));
            }
            if formula.can_wait(other) && !uses_mutex(b.kind) || b.kind == Kind::CondWake {
                found.push(hazard(other, breaking, true));
            }
            found
        }
        _ => Vec::new(),
    }
}

/// Is this what may come after an object was destroyed, by whomever?
fn follows_destruction(kind: Kind) -> bool {
    is_access(kind) || matches!(kind, Kind::Free | Kind::MutexInit)
}

fn uses_mutex(kind: Kind) -> bool {
    use Kind::{CondWait, CondWake, MutexLock, MutexTimedLock, MutexTryLock, MutexUnlock};
    matches!(
        kind,
        MutexLock | MutexTryLock | MutexTimedLock | MutexUnlock | CondWait | CondWake
    )
}
