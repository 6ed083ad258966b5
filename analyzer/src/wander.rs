//! A random walk over schedules with the same failure, for those with so many preemptions that neither
//! leaving one out nor going through all schedules with fewer leads on.

use crate::shrink::{Block, blocks, encode};
use crate::steer::draw::Draw;
use raddle_protocol::schedule::{CHOICE_BIT, Step};

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
        let Some(first) = (0..second).rfind(|&at| blocks[at].thread == thread) else {
            return;
        };
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
                let begins = begins(steps);
                let count = self.some(begins.len());
                let moved = steps.split_off(begins[begins.len() - count]);
                blocks[second].steps.splice(0..0, moved);
            }
            _ => {
                let steps = &mut blocks[second].steps;
                let begins = begins(steps);
                let end = begins.get(self.some(begins.len()));
                let moved: Vec<u16> = steps.drain(..end.copied().unwrap_or(steps.len())).collect();
                blocks[first].steps.extend(moved);
            }
        }
        blocks.retain(|block| !block.steps.is_empty());
    }

    /// So many steps as a preemption is moved by, of all these.
    fn some(&mut self, all: usize) -> usize {
        (1 + self.draw.below(MOST_STEPS)).min(all)
    }
}

/// Where steps begin: the choices of a step stay with it.
fn begins(steps: &[u16]) -> Vec<usize> {
    let is_step = |&at: &usize| at == 0 || steps[at] & CHOICE_BIT == 0;
    (0..steps.len()).filter(is_step).collect()
}

#[cfg(test)]
mod tests {
    use super::{MOST_CHANGES, MOST_STEPS, Walk};
    use crate::shrink::blocks;
    use raddle_protocol::Slot;
    use raddle_protocol::job::push_step;
    use raddle_protocol::schedule::{CHOICE_BIT, Step};

    /// A schedule of these threads, in which each step has a choice that numbers it within its thread.
    fn schedule(threads: impl IntoIterator<Item = Slot>) -> Vec<Step> {
        let (mut steps, mut counts) = (Vec::new(), [0; 3]);
        for thread in threads {
            push_step(&mut steps, thread);
            push_step(&mut steps, CHOICE_BIT | counts[usize::from(thread)]);
            counts[usize::from(thread)] += 1;
        }
        steps
    }

    /// What each thread does, in its order.
    fn by_thread(steps: &[Step]) -> [Vec<u16>; 3] {
        let mut all = [const { Vec::new() }; 3];
        for block in blocks(steps) {
            all[usize::from(block.thread)].extend(block.steps);
        }
        all
    }

    #[test]
    fn each_thread_takes_its_steps_in_order() {
        let start = schedule([0, 0, 1, 1, 2, 0, 1, 2, 2, 0]);
        let mut walk = Walk::new(&start, 6);
        let mut moved = 0;
        for _ in 0..1000 {
            let candidate = walk.next();
            assert_eq!(by_thread(&candidate), by_thread(&start));
            moved += u32::from(candidate != start);
            walk.observe(&candidate, 6);
        }
        assert!(moved > 500, "{moved}");
    }

    /// Thread 1 has one step, which comes behind some of thread 0's. Fewer preemptions will do only where that
    /// is early, and no candidate leads there from the start: only schedules that are as good do.
    #[test]
    fn a_plateau_is_crossed() {
        let (length, start, early): (usize, usize, usize) = (60, 40, 5);
        assert!(start - early > 2 * MOST_CHANGES * MOST_STEPS);
        let place = |steps: &[Step]| {
            let before = blocks(steps)
                .into_iter()
                .take_while(|block| block.thread == 0);
            before.flat_map(|block| block.steps).count() / 2
        };
        let threads = (0..=length).map(|n| Slot::from(n == start));
        let start = schedule(threads);
        let mut walk = Walk::new(&start, 2);
        let mut best = 2;
        for _ in 0..20_000 {
            let candidate = walk.next();
            let at = place(&candidate);
            // At either end it does not fail.
            if (1..length).contains(&at) {
                let preemptions = if at <= early { 1 } else { 2 };
                best = best.min(preemptions);
                walk.observe(&candidate, preemptions);
            }
        }
        assert_eq!(best, 1);
    }
}
