//! Conditions that cannot hold together: unsatisfiable cores of questions about one formula, which
//! answer others.

use super::circuit::Bool;
use super::formula::Formula;
use super::sat::Model;
use super::solver::{Answer, Effort, Limits};
use std::collections::BTreeSet;

/// What came of a question.
pub enum Reply {
    Yes(Model),
    /// These of the conditions, by their indices, are enough for a no; none if nothing holds at all.
    No(Vec<usize>),
    /// Out of time or out of its depth.
    Unknown,
}

/// The cores of one formula.
#[derive(Default)]
pub struct Refuted {
    cores: Vec<BTreeSet<Bool>>,
}

impl Refuted {
    /// Can all of these hold together? Asks the solver only if no core answers that.
    pub fn ask(
        &mut self,
        formula: &Formula<'_>,
        conditions: &[Bool],
        limits: Limits<'_>,
        effort: &mut Effort,
    ) -> Reply {
        if let Some(core) = self.known(conditions) {
            effort.spared += 1;
            return Reply::No(core);
        }
        let solver = &formula.solver;
        for condition in conditions {
            solver.push();
            solver.assert(condition);
        }
        let answer = formula.check(limits, effort);
        let reply = match answer {
            Answer::Sat(model) => Reply::Yes(model),
            Answer::Unsat => {
                // The first scope is the formula's own.
                let needed = solver.needed().into_iter().skip(1);
                let core: Vec<usize> = needed.enumerate().filter(|n| n.1).map(|n| n.0).collect();
                self.learn(conditions, &core);
                Reply::No(core)
            }
            Answer::Unknown => Reply::Unknown,
        };
        for _ in conditions {
            solver.pop();
        }
        reply
    }

    fn learn(&mut self, conditions: &[Bool], core: &[usize]) {
        let core = core.iter().map(|&i| conditions[i].clone());
        self.cores.push(core.collect());
    }

    /// The first core that these conditions contain, by their indices.
    fn known(&self, conditions: &[Bool]) -> Option<Vec<usize>> {
        let index = |part: &Bool| conditions.iter().position(|c| c == part);
        let within = |core: &BTreeSet<Bool>| core.iter().map(index).collect::<Option<Vec<usize>>>();
        let mut found = self.cores.iter().find_map(within)?;
        found.sort_unstable();
        Some(found)
    }
}
