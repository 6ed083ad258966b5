//! A random walk over schedules with the same failure, for those with so many preemptions that neither
//! leaving one out nor going through all schedules with fewer leads on.

use crate::shrink::{Block, blocks, encode};
use crate::steer::draw::Draw;
use raddle_protocol::schedule::Step;

/// A walk that never goes up: a schedule with as many preemptions as the last one is as good, so it gets
/// past schedules of which no single preemption can be left out.
///
/// Candidates are for *tolerant* runs with the tail `RunUntilBlocked`, as those of
/// [`Shrinker`](crate::shrink::Shrinker). Each keeps the order of the steps of every thread.
#[derive(Debug)]
pub struct Walk {
    here: Vec<Block>,
    preemptions: u64,
    draw: Draw,
}

/// Changes of one candidate.
const MOST_CHANGES: usize = 3;
/// Steps that a preemption moves.
const MOST_STEPS: usize = 4;

impl Walk {
    /// Starts from a failing execution with so many preemptions.
    pub fn new(taken: &[Step], preemptions: u64) -> Walk {
        Walk {
            here: blocks(taken),
            preemptions,
            draw: Draw::new(preemptions),
        }
    }

    /// The next candidate.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Vec<Step> {
        let mut blocks = self.here.clone();
        for _ in 0..=self.draw.below(MOST_CHANGES) {
            self.change(&mut blocks);
        }
        encode(blocks.iter())
    }

    /// What came of the last candidate, which failed in the same way: which steps it took, with how many
    /// preemptions.
    pub fn observe(&mut self, taken: &[Step], preemptions: u64) {
        if preemptions <= self.preemptions {
            self.here = blocks(taken);
            self.preemptions = preemptions;
        }
    }

    fn change(&mut self, blocks: &mut Vec<Block>) {
        let second = self.draw.below(blocks.len());
        let Some(thread) = blocks.get(second).map(|block| block.thread) else {
            return;
        };
        let before = blocks[..second].iter();
        let Some(first) = before.rev().position(|block| block.thread == thread) else {
            return;
        };
        let first = second - 1 - first;
        match self.draw.below(4) {
            // The second directly behind the first, or the first only before the second.
            0 => {
                let steps = blocks.remove(second).steps;
                blocks[first].steps.extend(steps);
            }
            1 => {
                let steps = std::mem::take(&mut blocks[first].steps);
                blocks[second].steps.splice(0..0, steps);
                blocks.remove(first);
            }
            // The thread is interrupted earlier, or later.
            2 => {
                let steps = &mut blocks[first].steps;
                let count = (1 + self.draw.below(MOST_STEPS)).min(steps.len());
                let moved = steps.split_off(steps.len() - count);
                blocks[second].steps.splice(0..0, moved);
            }
            _ => {
                let steps = &mut blocks[second].steps;
                let count = (1 + self.draw.below(MOST_STEPS)).min(steps.len());
                let moved: Vec<u16> = steps.drain(..count).collect();
                blocks[first].steps.extend(moved);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Walk;
    use crate::shrink::blocks;
    use raddle_protocol::job::push_step;
    use raddle_protocol::schedule::Step;

    fn schedule(text: &str) -> Vec<Step> {
        let mut steps = Vec::new();
        for c in text.bytes() {
            push_step(&mut steps, u16::from(c - b'a'));
        }
        steps
    }

    fn text(steps: &[Step]) -> String {
        let each = blocks(steps).into_iter().flat_map(|block| block.steps);
        each.map(|what| char::from(b'a' + what as u8)).collect()
    }

    #[test]
    fn each_thread_takes_its_steps_in_order() {
        let start = "aabbcabcca";
        let mut walk = Walk::new(&schedule(start), 6);
        for _ in 0..1000 {
            let mut candidate: Vec<char> = text(&walk.next()).chars().collect();
            candidate.sort_unstable();
            assert_eq!(String::from_iter(candidate), "aaaabbbccc");
        }
    }

    /// The failure wants the second step of `a` between the first two of `b`, or the first of `b` between
    /// the last two of `a`. The first way has two preemptions, and no part of it that can be left out.
    #[test]
    fn a_plateau_is_crossed() {
        let fails = |schedule: &str| {
            let at = |c: char, n| schedule.match_indices(c).nth(n).map(|found| found.0);
            let (a, b) = (|n| at('a', n), |n| at('b', n));
            b(0) < a(1) && a(1) < b(1) || a(2) < b(0) && b(2) < a(3)
        };
        let start = "abaabbba";
        assert!(fails(start));
        let cost = |steps: &[Step]| blocks(steps).len() as u64 - 1;
        let mut walk = Walk::new(&schedule(start), cost(&schedule(start)));
        let mut best = u64::MAX;
        for _ in 0..2000 {
            let candidate = walk.next();
            if fails(&text(&candidate)) {
                best = best.min(cost(&candidate));
                walk.observe(&candidate, cost(&candidate));
            }
        }
        assert_eq!(best, 2, "aaabbba");
    }
}
