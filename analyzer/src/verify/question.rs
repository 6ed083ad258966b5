//! One question over all trees, or over a share of their frontiers: what is asked, in which order.

use super::circuit::{Bool, any};
use super::deadlock;
use super::forest::{Forest, NodeId, Pattern, What};
use super::formula::{Aim, Formula, Target};
use super::frontier::SOLVER;
use super::hazards::{self, Hazard};
use super::later::Later;
use super::plan::{Found, Plan, to_frontiers};
use super::sat::Model;
use super::solver::{Answer, Effort, Limits};
use super::together::Hope;
use super::untested;
use std::collections::{HashMap, HashSet};

/// How often an execution may miss its frontier before that is given up.
const ATTEMPTS: u32 = 2;

/// How often executions missed what they were aimed at.
pub type Attempts = HashMap<(NodeId, Aim), u32>;

/// What a job was for.
pub enum Purpose {
    Frontiers(Vec<(NodeId, Aim)>),
    Deadlock(Pattern),
    Hazard(Hazard),
    Race,
}

/// What executions were made for and did not show, or showed: it is not to be asked for again.
#[derive(Clone, Copy)]
pub struct Missed<'a> {
    pub attempts: &'a Attempts,
    pub deadlocks: &'a [Pattern],
    pub hazards: &'a HashSet<Hazard>,
}

/// The frontiers that a question is about, and what comes before all of them together.
#[derive(Clone, Copy)]
pub struct Share {
    /// Those with this number in each group.
    pub n: usize,
    /// The size of a group.
    pub of: usize,
    /// First, what is urgent alone, of all.
    pub urgent: bool,
    /// Then, what is behind untested predecessor pairs.
    pub untested: bool,
    /// So many jobs were given.
    pub decisions: u64,
    /// So many more may come from this question.
    pub more: u64,
}

/// An execution that leads to something unseen.
pub struct Lead {
    pub plan: Plan,
    pub purpose: Purpose,
    /// More executions.
    pub later: Later,
}

/// How a formula is asked.
pub struct Question<'q> {
    pub missed: Missed<'q>,
    pub share: Share,
    pub limits: Limits<'q>,
    pub hope: &'q mut Hope,
    /// The formula that had a model goes here, where it is wanted.
    pub kept: Option<&'q mut String>,
}

impl Question<'_> {
    /// Looks for a frontier of the share; where that is due, for a deadlock, a wrong order, and urgent
    /// frontiers of all shares before. `None`: there is none, and the formula can be asked for other
    /// things.
    ///
    /// # Errors
    /// Why there is no answer.
    pub fn ask(
        &mut self,
        formula: &mut Formula<'_>,
        effort: &mut Effort,
    ) -> Result<Option<Lead>, &'static str> {
        let targets = std::mem::take(&mut formula.targets);
        let every = self.missed.wanted(formula, &targets);
        if every.is_empty() {
            return Ok(None);
        }
        let (limits, urgent) = (self.limits, self.share.urgent);
        let times = effort_of(self.share.decisions);
        if urgent {
            let found = self
                .missed
                .wrong_end(formula, |f| f.glance(limits, effort, times));
            if let Found::Yes(plan, purpose) = found {
                let later = Later::default();
                return Ok(Some(Lead {
                    plan,
                    purpose,
                    later,
                }));
            }
        }
        formula.solver.push();
        let lead = self.frontier(formula, &every, (effort, times));
        formula.solver.pop();
        lead
    }

    fn frontier(
        &mut self,
        formula: &mut Formula<'_>,
        every: &[&Target],
        (effort, times): (&mut Effort, u32),
    ) -> Result<Option<Lead>, &'static str> {
        let (limits, share) = (self.limits, self.share);
        let first = match share.urgent {
            true => urgent(formula.forest, every),
            false => Vec::new(),
        };
        let wanted = every.iter().copied().skip(share.n).step_by(share.of);
        let wanted: Vec<&Target> = wanted.collect();
        if wanted.is_empty() && first.iter().all(Vec::is_empty) {
            return Ok(None);
        }
        formula.exclude_idle_rounds();
        let before = Before {
            first: &first,
            wanted: &wanted,
        };
        let answer = match before.ask(formula, limits, (effort, times)) {
            Some(model) => Answer::Sat(model),
            None => {
                formula.solver.assert(&reached(&wanted));
                formula.check(limits, effort)
            }
        };
        let model = match answer {
            Answer::Sat(model) => model,
            Answer::Unsat => return Ok(None),
            Answer::Unknown => return Err(SOLVER),
        };
        if let Some(kept) = &mut self.kept {
            **kept = formula.solver.text();
        }
        // What is urgent may be of another share.
        let targets = if share.urgent { every } else { &wanted };
        let model = (self.hope).together(formula, targets, model, (limits, effort));
        let plan = to_frontiers(formula, &model, targets);
        let rest = (share.more, &mut *self.hope, limits, effort);
        Ok(Some(Lead {
            later: Later::of(formula, &wanted, &plan, rest),
            purpose: Purpose::Frontiers(plan.aims.clone()),
            plan,
        }))
    }
}

impl Missed<'_> {
    /// The targets without those that are given up; what is reached by way of these is not asked for.
    fn wanted<'t>(&self, formula: &Formula<'_>, targets: &'t [Target]) -> Vec<&'t Target> {
        let missed = |t: &&Target| self.attempts.get(&(t.node, t.aim));
        let dropped = |t: &&Target| missed(t).is_some_and(|n| is_given_up(*n));
        let (dropped, wanted): (Vec<&Target>, Vec<&Target>) = targets.iter().partition(dropped);
        for target in dropped {
            formula.solver.assert(&target.condition.not());
        }
        wanted
    }

    /// Looks for a deadlock, then for a wrong order of steps. `check` asks the formula.
    pub fn wrong_end(
        &self,
        formula: &Formula<'_>,
        mut check: impl FnMut(&Formula<'_>) -> Answer,
    ) -> Found<Purpose> {
        match deadlock::query(formula, self.deadlocks, &mut check) {
            Found::No => hazards::query(formula, self.hazards, check).map(Purpose::Hazard),
            found => found.map(Purpose::Deadlock),
        }
    }
}

/// As much effort for a few targets alone as so many questions had together, were all of them small.
fn effort_of(decisions: u64) -> u32 {
    u32::try_from(decisions).unwrap_or(u32::MAX)
}

/// The targets that are asked for alone now and then: those that may be errors, and after them the
/// steps of statements that were never executed. What follows these may show that more is shared, and
/// then all that was seen before has to be seen again.
fn urgent<'t>(forest: &Forest, targets: &[&'t Target]) -> Vec<Vec<&'t Target>> {
    let guards = |t: &&&Target| match forest.node(t.node).what {
        What::Decide(_, why) => why.guards(),
        _ => false,
    };
    let executed = forest.nodes.iter().filter(|n| !n.next.is_empty());
    let executed: HashSet<u64> = executed.map(|n| n.pc).collect();
    let is_new =
        |t: &&&Target| t.aim == Aim::Execute && !executed.contains(&forest.node(t.node).pc);
    let errors = targets.iter().filter(guards).copied().collect();
    let new = targets.iter().filter(is_new).copied().collect();
    vec![errors, new]
}

/// What is asked for before all frontiers together.
struct Before<'w, 't> {
    /// One of these alone, group after group.
    first: &'w [Vec<&'t Target>],
    /// Then, of these, what is behind untested predecessor pairs, where the formula has them.
    wanted: &'w [&'t Target],
}

impl Before<'_, '_> {
    /// A model in which one of them is reached, if it takes little to find one.
    fn ask(
        &self,
        formula: &Formula<'_>,
        limits: Limits<'_>,
        (effort, times): (&mut Effort, u32),
    ) -> Option<Model> {
        for targets in self.first.iter().filter(|targets| !targets.is_empty()) {
            let reached = reached(targets);
            if let Some(model) = alone(formula, &reached, limits, (effort, times)) {
                return Some(model);
            }
        }
        let behind = untested::behind(formula, self.wanted)?;
        alone(formula, &behind, limits, (effort, 1))
    }
}

/// Some of these are reached.
pub fn reached(targets: &[&Target]) -> Bool {
    let conditions: Vec<Bool> = targets.iter().map(|t| t.condition.clone()).collect();
    any(&conditions)
}

/// A model in which this holds, if it takes little to find one.
fn alone(
    formula: &Formula<'_>,
    what: &Bool,
    limits: Limits<'_>,
    (effort, times): (&mut Effort, u32),
) -> Option<Model> {
    formula.solver.push();
    formula.solver.assert(what);
    let answer = formula.glance(limits, effort, times);
    formula.solver.pop();
    match answer {
        Answer::Sat(model) => Some(model),
        Answer::Unsat | Answer::Unknown => None,
    }
}

/// Was something missed too often?
pub fn is_given_up(attempts: u32) -> bool {
    attempts >= ATTEMPTS
}
