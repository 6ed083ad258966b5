//! Frontiers of several threads in one execution.

use super::forest::TreeId;
use super::formula::{Aim, Formula, Target};
use super::question::reached;
use super::sat::{Model, holds};
use super::solver::{Answer, Effort, Limits};
use std::collections::BTreeSet;

/// Whether it is worth while to ask for more frontiers of one execution: after each attempt in vain
/// it takes twice as many executions until the next.
#[derive(Clone, Copy, Default)]
pub struct Hope {
    vain: u32,
    since: u32,
}

impl Hope {
    fn is_due(&mut self) -> bool {
        self.since += 1;
        self.since >= 1 << self.vain.min(MOST_VAIN)
    }

    fn learn(&mut self, found: bool) {
        self.since = 0;
        self.vain = if found { 0 } else { self.vain + 1 };
    }

    /// A model that reaches what this one reaches of `targets`, and then, thread by thread, more of
    /// them, if it takes little to find it.
    pub fn together(
        &mut self,
        formula: &Formula<'_>,
        targets: &[&Target],
        mut model: Model,
        (limits, effort): (Limits<'_>, &mut Effort),
    ) -> Model {
        let mut left = targets.to_vec();
        left.retain(|target| target.aim != Aim::Enter);
        let mut found = None;
        formula.solver.push();
        loop {
            let (at, open): (Vec<&Target>, Vec<&Target>) =
                left.into_iter().partition(|t| holds(&model, &t.condition));
            let tree = |target: &Target| formula.forest.node(target.node).tree;
            let standing: BTreeSet<TreeId> = at.iter().map(|t| tree(t)).collect();
            left = open;
            left.retain(|target| !standing.contains(&tree(target)));
            if left.is_empty() || found.is_none() && !self.is_due() {
                break;
            }
            for target in at {
                formula.solver.assert(&target.condition);
            }
            formula.solver.push();
            formula.solver.assert(&reached(&left));
            let answer = formula.glance(limits, effort, 1);
            formula.solver.pop();
            let Answer::Sat(more) = answer else {
                found = found.or(Some(false));
                break;
            };
            model = more;
            found = Some(true);
        }
        formula.solver.pop();
        if let Some(found) = found {
            self.learn(found);
        }
        model
    }
}

/// An attempt is made at least after two to the power of so many executions.
const MOST_VAIN: u32 = 6;
