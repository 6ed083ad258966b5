//! More jobs from one question: a formula is made once for several executions.

use super::forest::{Forest, NodeId, What};
use super::formula::{Aim, Formula, Target};
use super::plan::{Plan, to_frontiers};
use super::question::reached;
use super::solver::{Answer, Effort, Limits};
use super::together::Hope;
use std::collections::VecDeque;

/// What is known where a plan leads: the nodes, and how many ways go on from each.
type Known = Vec<(NodeId, What, usize)>;

/// Plans to other frontiers than those that were asked for first.
#[derive(Default)]
pub struct Later {
    plans: VecDeque<(Plan, Known)>,
    /// So many deadlocks were known.
    deadlocks: usize,
}

impl Later {
    /// Up to so many plans to other `targets` than the first plan leads to, and than each other, if it
    /// takes little to find them. What is asserted stays until the next [`super::solver::Solver::pop`].
    pub fn of(
        formula: &Formula<'_>,
        targets: &[&Target],
        first: &Plan,
        (more, hope, limits, effort): (u64, &mut Hope, Limits<'_>, &mut Effort),
    ) -> Later {
        let mut later = Later {
            plans: VecDeque::new(),
            deadlocks: formula.forest.deadlocks.len(),
        };
        let mut left = targets.to_vec();
        let mut aims = first.aims.clone();
        for _ in 0..more {
            left.retain(|target| {
                let taken = aims.contains(&(target.node, target.aim));
                if taken {
                    formula.solver.assert(&target.condition.not());
                }
                !taken
            });
            if left.is_empty() {
                break;
            }
            formula.solver.push();
            formula.solver.assert(&reached(&left));
            let answer = formula.glance(limits, effort, 1);
            formula.solver.pop();
            let Answer::Sat(model) = answer else { break };
            let model = hope.together(formula, &left, model, (limits, effort));
            let plan = to_frontiers(formula, &model, &left);
            aims.clone_from(&plan.aims);
            let known = known(formula.forest, &plan);
            later.plans.push_back((plan, known));
        }
        later
    }

    /// Adds those of another part of the same question.
    pub fn append(&mut self, mut other: Later) {
        self.deadlocks = self.deadlocks.max(other.deadlocks);
        self.plans.append(&mut other.plans);
    }

    /// Up to so many of the next plans.
    pub fn several(&mut self, forest: &Forest, most: usize) -> Vec<Plan> {
        std::iter::from_fn(|| self.next(forest))
            .take(most)
            .collect()
    }

    /// The next plan that still leads to something new.
    pub fn next(&mut self, forest: &Forest) -> Option<Plan> {
        // No execution gets beyond a deadlock that the formula did not know.
        if self.deadlocks != forest.deadlocks.len() {
            self.plans.clear();
        }
        loop {
            let (plan, then) = self.plans.pop_front()?;
            let now = known(forest, &plan);
            if then.iter().zip(&now).any(|(then, now)| then == now) {
                return Some(plan);
            }
        }
    }
}

fn known(forest: &Forest, plan: &Plan) -> Known {
    let known = |&(id, _): &(NodeId, Aim)| {
        let node = forest.node(id);
        (id, node.what, node.next.len())
    };
    plan.aims.iter().map(known).collect()
}
