//! Executions that showed something new, to start others from.

use super::draw::Draw;
use crate::hapset::operation::Operation;
use crate::hapset::pairs::Pair;
use raddle_protocol::constraint::{Constraint, Point, Rule};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::Step;

/// Executions that are kept.
const MOST: usize = 32;
/// Longer ones are not.
const LONGEST: usize = 20_000;

/// One execution.
struct Base {
    taken: Vec<Step>,
    operations: Vec<Operation>,
    /// Conflicting operations whose order may be turned round.
    races: Vec<Pair>,
}

/// The executions that are kept.
#[derive(Default)]
pub struct Pool(Vec<Base>);

impl Pool {
    /// Is it worth while to offer such an execution?
    pub fn accepts(operations: &[Operation]) -> bool {
        operations.len() <= LONGEST
    }

    /// Keeps an execution, in the place of another one when there are many.
    pub fn add(
        &mut self,
        draw: &mut Draw,
        taken: &[Step],
        operations: Vec<Operation>,
        races: Vec<Pair>,
    ) {
        if races.is_empty() {
            return;
        }
        let base = Base {
            taken: taken.to_vec(),
            operations,
            races,
        };
        match self.0.len() < MOST {
            true => self.0.push(base),
            // The first one, without preemptions, stays.
            false => self.0[1 + draw.below(MOST - 1)] = base,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An execution as far as an operation that another one followed, and the constraint that
    /// turns the two round.
    pub fn reversal(&self, draw: &mut Draw, patience: u32) -> Option<(Vec<Step>, Constraint)> {
        let base = self.0.get(draw.below(self.0.len()))?;
        let race = base.races.get(draw.below(base.races.len()))?;
        let before = &base.operations[race.before as usize];
        let after = &base.operations[race.after as usize];
        let point = |op: &Operation| Point {
            pc: op.pc,
            object: op.object,
            thread: op.thread,
            kind: op.kind as u8,
            nth: op.nth,
            ..Point::ANY
        };
        let constraint = Constraint::new(Rule::After, point(after), point(before), patience);
        Some((cut(&base.taken, before.step), constraint))
    }
}

/// The first `steps` steps of threads, with the choices that belong to them.
fn cut(taken: &[Step], steps: u32) -> Vec<Step> {
    let mut left = steps;
    let mut prefix: Vec<Step> = Vec::new();
    for step in taken {
        if step.is_choice() {
            push_step(&mut prefix, step.what);
        } else {
            let count = u32::from(step.count).min(left);
            left -= count;
            if count > 0 {
                prefix.push(Step {
                    count: count as u16,
                    ..*step
                });
            }
            if count < u32::from(step.count) {
                break;
            }
        }
    }
    prefix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_execution_is_cut_after_the_choices_of_its_last_step() {
        let taken = [
            Step::thread(0, 3),
            Step::choice(1),
            Step::thread(1, 2),
            Step::thread(0, 1),
        ];
        let table: [(u32, &[Step]); 5] = [
            (0, &[]),
            (2, &[Step::thread(0, 2)]),
            (3, &[Step::thread(0, 3), Step::choice(1)]),
            (
                4,
                &[Step::thread(0, 3), Step::choice(1), Step::thread(1, 1)],
            ),
            (9, &taken),
        ];
        for (steps, expected) in table {
            assert_eq!(cut(&taken, steps), expected, "{steps}");
        }
    }
}
