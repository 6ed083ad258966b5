//! Executions that showed something new, to start others from.

use super::draw::Draw;
use super::order::Order;
use crate::hapset::operation::Operation;
use raddle_protocol::constraint::{Constraint, Point, Rule};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::Step;

/// Executions that are kept.
const MOST: usize = 32;
/// Longer ones are not.
const LONGEST: usize = 20_000;

/// One execution.
pub struct Base {
    pub taken: Vec<Step>,
    pub operations: Vec<Operation>,
    pub order: Order,
}

/// Operations that are looked at for one that may be turned round, and behind it for the other.
const LOOKS: usize = 16;
const AHEAD: usize = 2000;

impl Base {
    /// Two operations of different threads in conflict that might come in the other order.
    fn race(&self, draw: &mut Draw) -> Option<(&Operation, &Operation)> {
        for _ in 0..LOOKS {
            let at = draw.below(self.operations.len());
            let before = self.operations.get(at)?;
            let later = self.operations[at + 1..].iter().take(AHEAD);
            let mut chosen = None;
            let mut found = 0;
            for after in later.filter(|after| self.may_precede(after, before)) {
                found += 1;
                if draw.below(found) == 0 {
                    chosen = Some(after);
                }
            }
            if let Some(after) = chosen {
                return Some((before, after));
            }
        }
        None
    }

    fn may_precede(&self, after: &Operation, before: &Operation) -> bool {
        after.thread != before.thread
            && after.conflicts(before)
            && after.locks & before.locks == 0
            && !self.order.is_certain(before, after)
    }
}

/// The executions that are kept.
#[derive(Default)]
pub struct Pool(Vec<Base>);

impl Pool {
    /// Is it worth while to offer such an execution?
    pub fn accepts(operations: &[Operation]) -> bool {
        (1..=LONGEST).contains(&operations.len())
    }

    /// Keeps an execution, in the place of another one when there are many.
    pub fn add(&mut self, draw: &mut Draw, base: Base) {
        match self.0.len() < MOST {
            true => self.0.push(base),
            // The first one, without preemptions, stays.
            false => self.0[1 + draw.below(MOST - 1)] = base,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// An execution as far as an operation that a conflicting one followed, and the constraint that
    /// turns the two round.
    pub fn reversal(&self, draw: &mut Draw, patience: u32) -> Option<(Vec<Step>, Constraint)> {
        let base = self.0.get(draw.below(self.0.len()))?;
        let (before, after) = base.race(draw)?;
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
