//! Executions that showed something new, to start others from.

use super::delays::{Delay, Sort};
use super::draw::Draw;
use super::table::StatementId;
use crate::fast::FastMap;
use crate::hapset::operation::Operation;
use crate::stop;
use raddle_protocol::constraint::{Constraint, Point, Rule};
use raddle_protocol::event::Kind;
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::Step;

/// Executions that are kept.
const MOST: usize = 32;
/// Longer ones are not.
const LONGEST: usize = 20_000;
/// Delays that are drawn for one that is tried.
const LOOKS: usize = 6;
/// Delays of one class that count as untried until each was tried: of places that a thread passes
/// time and again, often only one is the right one.
const VISITS: usize = 5;

/// How much rather an untried delay is tried than others, in an execution that so many delays led
/// to. Where one delay of an execution without preemptions makes a program of `tests/marks` or
/// `tests/corpus` fail, six in ten of [`Sort::Inside`] do, and one in twenty of [`Sort::Plain`].
/// [`Sort::Stale`] goes first only there: elsewhere there are many.
fn weight(sort: Sort, depth: u32) -> u32 {
    let weight = match sort {
        Sort::Stale if depth == 0 => 1000,
        Sort::Stale | Sort::Inside => 20,
        Sort::Plain => 2,
    };
    (weight >> (2 * depth).min(6)).max(1)
}

/// One execution.
pub struct Base {
    pub taken: Vec<Step>,
    pub operations: Vec<Operation>,
    pub delays: Vec<Delay>,
    /// How many delays led to it.
    pub depth: u32,
}

/// An execution up to a step, and the constraint that makes the rest different.
pub struct Detour {
    pub prefix: Vec<Step>,
    pub constraint: Constraint,
    /// Of the execution that it leads to.
    pub depth: u32,
}

/// The executions that are kept.
#[derive(Default)]
pub struct Pool {
    bases: Vec<Base>,
    /// By class: how often its delays were tried.
    tries: FastMap<u64, u32>,
    /// Up to [`VISITS`] delays of each class that was not when it came up, as base and index there.
    fresh: Vec<(usize, usize)>,
}

impl Pool {
    /// Is it worth while to offer such an execution?
    pub fn accepts(operations: &[Operation]) -> bool {
        (1..=LONGEST).contains(&operations.len())
    }

    /// Keeps an execution, in the place of another one when there are many. Pairs that are `known`
    /// need no delay of their own.
    pub fn add(
        &mut self,
        draw: &mut Draw,
        base: Base,
        known: impl Fn((StatementId, StatementId)) -> bool,
    ) {
        let at = match self.bases.len() < MOST {
            true => self.bases.len(),
            // The first one, without preemptions, stays.
            false => 1 + draw.below(MOST - 1),
        };
        if let Some(old) = self.bases.get(at) {
            let lost = self.fresh.iter().filter(|&&(of, _)| of == at);
            for &(_, i) in lost {
                stop::point();
                self.tries.remove(&old.delays[i].class);
            }
            self.fresh.retain(|&(of, _)| of != at);
        }
        self.find_fresh(draw, at, &base.delays, known);
        match at == self.bases.len() {
            true => self.bases.push(base),
            false => self.bases[at] = base,
        }
    }

    /// Of each new class some delays: of the threads that come first, but anywhere in their loops.
    fn find_fresh(
        &mut self,
        draw: &mut Draw,
        at: usize,
        delays: &[Delay],
        known: impl Fn((StatementId, StatementId)) -> bool,
    ) {
        // Their places among the fresh ones, and how many there were to choose from.
        let mut new: FastMap<u64, (Vec<usize>, usize)> = FastMap::default();
        for (i, delay) in delays.iter().enumerate() {
            stop::point();
            if let Some((places, count)) = new.get_mut(&delay.class) {
                let first = &delays[self.fresh[places[0]].1];
                if (first.held, first.other) != (delay.held, delay.other) {
                    continue;
                }
                *count += 1;
                if places.len() < VISITS {
                    places.push(self.fresh.len());
                    self.fresh.push((at, i));
                } else if let Some(&place) = places.get(draw.below(*count)) {
                    self.fresh[place].1 = i;
                }
            } else if !self.tries.contains_key(&delay.class) && !known(delay.pair) {
                self.tries.insert(delay.class, 0);
                new.insert(delay.class, (vec![self.fresh.len()], 1));
                self.fresh.push((at, i));
            }
        }
    }

    /// Are there such delays?
    pub fn has_fresh(&self) -> bool {
        !self.fresh.is_empty()
    }

    /// One of them, which is tried now.
    pub fn fresh(&mut self, draw: &mut Draw, patience: u32) -> Option<Detour> {
        let weight = |&(of, i): &(usize, usize)| {
            let base = &self.bases[of];
            weight(base.delays[i].sort, base.depth)
        };
        let chosen = draw.weighted(self.fresh.iter().map(weight))?;
        let (of, i) = self.fresh.swap_remove(chosen);
        Some(self.detour(of, i, patience))
    }

    /// A delay of any execution, rather one that was tried less than others. `shallow`: of those
    /// that fewest delays led to, as long as some of theirs are untried.
    pub fn any(&mut self, draw: &mut Draw, patience: u32, shallow: bool) -> Option<Detour> {
        let has_untried = |base: &&Base| base.delays.iter().any(|delay| delay.tries == 0);
        let depths = self.bases.iter().filter(has_untried).map(|base| base.depth);
        let deepest = match shallow {
            true => depths.min()?,
            false => u32::MAX,
        };
        let eligible = (0..self.bases.len()).filter(|&of| self.bases[of].depth <= deepest);
        let eligible: Vec<usize> = eligible.collect();
        let mut look = || {
            let of = *eligible.get(draw.below(eligible.len()))?;
            let delays = &self.bases[of].delays;
            let i = draw.below(delays.len());
            let delay = delays.get(i)?;
            let alike = self.tries.get(&delay.class).copied().unwrap_or(0);
            let alike = match delay.sort {
                Sort::Plain => 3 * alike,
                Sort::Stale | Sort::Inside => alike,
            };
            Some((4 * delay.tries + alike, of, i))
        };
        let (_, of, i) = (0..LOOKS).filter_map(|_| look()).min()?;
        Some(self.detour(of, i, patience))
    }

    fn detour(&mut self, of: usize, i: usize, patience: u32) -> Detour {
        let base = &mut self.bases[of];
        let delay = &mut base.delays[i];
        delay.tries += 1;
        *self.tries.entry(delay.class).or_default() += 1;
        let first = match delay.until {
            Some(until) => exactly(&base.operations[until as usize]),
            None => Point {
                thread: delay.other,
                kind: Kind::ThreadExit as u8,
                ..Point::ANY
            },
        };
        let then = Point {
            thread: delay.held,
            ..Point::ANY
        };
        Detour {
            prefix: cut(&base.taken, delay.step),
            constraint: Constraint::new(Rule::AtOnce, first, then, patience),
            depth: base.depth + 1,
        }
    }
}

/// This operation and no other.
fn exactly(op: &Operation) -> Point {
    Point {
        pc: op.pc,
        object: op.object,
        nth: op.nth,
        thread: op.thread,
        kind: op.kind as u8,
        ..Point::ANY
    }
}

/// The first `steps` steps of threads, with the choices that belong to them.
pub fn cut(taken: &[Step], steps: u32) -> Vec<Step> {
    let mut left = steps;
    let mut prefix: Vec<Step> = Vec::new();
    for step in taken {
        stop::point();
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
