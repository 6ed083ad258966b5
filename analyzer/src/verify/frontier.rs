//! The strategy `frontier`: one question over all trees, until nothing unseen is reachable.

use super::deadlock::{self, Found};
use super::forest::{Forest, NodeId, Pattern};
use super::formula::{Aim, Ends, Formula, Target};
use super::hazards::{self, Hazard};
use super::plan::{Plan, to_frontier};
use super::solver::{Answer, Effort, Limits, Values, any};
use std::collections::{HashMap, HashSet};

/// How often an execution may miss its frontier before that is given up.
const ATTEMPTS: u32 = 2;

/// What to do next.
pub enum Decision {
    /// Run this. `tolerant`: an earlier attempt missed.
    Run { plan: Plan, tolerant: bool },
    /// Nothing unseen is reachable.
    Exhausted,
    /// Out of time or space, for this reason.
    GaveUp(&'static str),
}

/// Why a question has no answer.
pub const SOLVER: &str = "the solver gave up";
/// Why a question cannot be asked.
pub const TOO_LARGE: &str = "the formula would be too large";

/// What the last job was for.
enum Purpose {
    Frontiers(Vec<(NodeId, Aim)>),
    Deadlock(Pattern),
    Hazard(Hazard),
}

/// State of the strategy over one forest.
#[derive(Default)]
pub struct Frontier {
    values: Values,
    attempts: HashMap<(NodeId, Aim), u32>,
    /// Deadlocks that were predicted and did not happen.
    unconfirmed: Vec<Pattern>,
    /// Wrong orders that executions have shown.
    hazards: HashSet<Hazard>,
    /// Locations whose first content differs between executions, and can be read.
    unsteady: usize,
    purpose: Option<Purpose>,
    facts: u64,
    /// The formula of the last question that had a model, where it is wanted.
    pub kept: Option<String>,
}

impl Frontier {
    /// Looks for a frontier, then for a deadlock.
    pub fn decide(&mut self, forest: &Forest, limits: Limits<'_>, effort: &mut Effort) -> Decision {
        self.facts = forest.facts;
        let mut formula = Formula::new(forest, &mut self.values, Ends::Excluded);
        self.unsteady = formula.unsteady.len();
        if formula.too_large {
            return Decision::GaveUp(TOO_LARGE);
        }
        let given_up = |t: &Target| {
            let attempts = self.attempts.get(&(t.node, t.aim));
            attempts.is_some_and(|n| *n >= ATTEMPTS)
        };
        let targets = std::mem::take(&mut formula.targets);
        let (dropped, wanted): (Vec<&Target>, Vec<&Target>) =
            targets.iter().partition(|t| given_up(t));
        for target in dropped {
            formula.solver.assert(&target.condition.not());
        }
        if !wanted.is_empty() {
            formula.solver.push();
            let conditions: Vec<_> = wanted.iter().map(|t| t.condition.clone()).collect();
            formula.solver.assert(&any(&conditions));
            let answer = formula.solver.check(limits, effort);
            if let (Answer::Sat(_), Some(kept)) = (&answer, &mut self.kept) {
                *kept = formula.solver.text();
            }
            formula.solver.pop();
            match answer {
                Answer::Sat(model) => {
                    let plan = to_frontier(&formula, &model, &wanted);
                    let again = |a: &(NodeId, Aim)| self.attempts.contains_key(a);
                    let tolerant = plan.aims.iter().any(again);
                    self.purpose = Some(Purpose::Frontiers(plan.aims.clone()));
                    return Decision::Run { plan, tolerant };
                }
                Answer::Unsat => {}
                Answer::Unknown => return Decision::GaveUp(SOLVER),
            }
        }
        for pattern in &self.unconfirmed {
            let waits: Vec<_> = pattern.stuck.iter().map(|&n| formula.waits_at(n)).collect();
            formula.solver.assert(&super::solver::all(&waits).not());
        }
        match deadlock::query(&formula, limits, effort) {
            Found::Yes(plan, pattern) => {
                self.purpose = Some(Purpose::Deadlock(pattern));
                Decision::Run {
                    plan,
                    tolerant: false,
                }
            }
            Found::No => Self::hazard(&self.hazards, &mut self.purpose, &formula, limits, effort),
            Found::Unknown => Decision::GaveUp(SOLVER),
        }
    }

    fn hazard(
        known: &HashSet<Hazard>,
        purpose: &mut Option<Purpose>,
        formula: &Formula<'_>,
        limits: Limits<'_>,
        effort: &mut Effort,
    ) -> Decision {
        match hazards::query(formula, known, limits, effort) {
            hazards::Found::Yes(plan, hazard) => {
                *purpose = Some(Purpose::Hazard(hazard));
                Decision::Run {
                    plan,
                    tolerant: false,
                }
            }
            hazards::Found::No => Decision::Exhausted,
            hazards::Found::Unknown => Decision::GaveUp(SOLVER),
        }
    }

    /// Locations that were changed without a record before they were first recorded.
    pub fn unsteady(&self) -> usize {
        self.unsteady
    }

    /// Wrong orders of steps on one object that are reachable.
    pub fn wrong_orders(&self) -> usize {
        self.hazards.len()
    }

    /// Was the last job of use? What it was for is tried again, then given up.
    pub fn observed(&mut self, forest: &Forest) {
        let learnt = forest.facts > self.facts;
        match self.purpose.take() {
            Some(Purpose::Frontiers(aims)) if !learnt => {
                for aim in aims {
                    *self.attempts.entry(aim).or_default() += 1;
                }
            }
            Some(Purpose::Hazard(hazard)) => {
                self.hazards.insert(hazard);
            }
            Some(Purpose::Deadlock(pattern)) if !learnt => self.unconfirmed.push(pattern),
            _ => {}
        }
    }

    /// What is reachable in the formula and was not reached.
    pub fn unreached(&self, forest: &Forest) -> Vec<String> {
        let given_up = self.attempts.iter().filter(|a| *a.1 >= ATTEMPTS);
        let mut lines: Vec<String> = given_up
            .map(|((node, aim), _)| format!("{} at pc {:#x}", text(*aim), forest.node(*node).pc))
            .collect();
        lines.extend(self.unconfirmed.iter().map(|p| {
            let places = p.stuck.iter().map(|n| format!("{:#x}", forest.node(*n).pc));
            format!("a deadlock at {}", places.collect::<Vec<_>>().join(", "))
        }));
        lines.sort();
        lines
    }
}

fn text(aim: Aim) -> &'static str {
    match aim {
        Aim::Decide => "another outcome of the decision",
        Aim::Hold => "the assumption holding",
        Aim::Execute => "the step",
        Aim::Enter => "what follows the last known step",
        Aim::Outcome(_) => "another outcome of the step",
        Aim::Result => "another result of the join",
    }
}
