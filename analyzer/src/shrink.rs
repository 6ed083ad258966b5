//! Makes a failing schedule easy to read: few preemptions first, then few steps.

use raddle_protocol::Slot;
use raddle_protocol::event::Event;
use raddle_protocol::job::{push_step, total_steps};
use raddle_protocol::schedule::Step;
use std::collections::HashSet;

/// Most candidates that one shrinking asks for.
pub const MAX_CANDIDATES: usize = 600;

/// Search for a simpler schedule with the same failure.
///
/// Candidates are for *tolerant* runs with the tail `RunUntilBlocked`: what cannot be taken is
/// skipped, what is missing is filled in without preemptions. The schedule is seen as a list of
/// blocks (what one thread did without interruption), and a candidate drops the end, drops a
/// block, or joins two blocks of one thread by moving one of them. An accepted candidate is the
/// start of the next round; the search ends when no candidate of a round is better, or after
/// [`MAX_CANDIDATES`].
#[derive(Debug)]
pub struct Shrinker {
    best: Vec<Step>,
    /// Preemptions (`None`: not known yet) and steps of `best`.
    cost: (Option<u64>, u64),
    /// Candidates of this round, the next one last.
    round: Vec<Vec<Step>>,
    tried: HashSet<Vec<Step>>,
    asked: usize,
}

impl Shrinker {
    /// Starts from the steps and the events of a failing execution. `events` may be empty; with
    /// them the first candidates are better.
    pub fn new(taken: Vec<Step>, events: &[Event]) -> Shrinker {
        let steps = total_steps(&taken);
        let _ = events;
        let mut shrinker = Shrinker {
            round: candidates(&taken),
            best: taken,
            cost: (None, steps),
            tried: HashSet::new(),
            asked: 0,
        };
        // The schedule itself comes first: its run tells how many preemptions it has.
        shrinker.round.push(shrinker.best.clone());
        shrinker
    }

    /// The next candidate; `None` when the search is over.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Vec<Step>> {
        while self.asked < MAX_CANDIDATES {
            let candidate = self.round.pop()?;
            if self.tried.insert(candidate.clone()) {
                self.asked += 1;
                return Some(candidate);
            }
        }
        None
    }

    /// What came of the last candidate: did it fail in the same way, which steps did it take, with
    /// how many preemptions.
    pub fn observe(&mut self, same_failure: bool, taken: &[Step], preemptions: u64) {
        if !same_failure {
            return;
        }
        let steps = total_steps(taken);
        let better = match self.cost.0 {
            None => true,
            Some(best) => (preemptions, steps) < (best, self.cost.1),
        };
        if better {
            self.cost = (Some(preemptions), steps);
            self.best = taken.to_vec();
            self.round = candidates(taken);
        }
    }

    /// The best schedule so far: complete, so that a strict run repeats the failure.
    pub fn best(&self) -> &[Step] {
        &self.best
    }

    /// Preemptions of [`Shrinker::best`]; `None` before any run has confirmed the failure.
    pub fn preemptions(&self) -> Option<u64> {
        self.cost.0
    }
}

/// What one thread did without interruption, choices included.
#[derive(Clone, Debug)]
struct Block {
    thread: Slot,
    steps: Vec<u16>,
}

fn blocks(steps: &[Step]) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for step in steps {
        let continues = blocks
            .last()
            .is_some_and(|b| step.is_choice() || b.thread == step.what);
        if !continues {
            blocks.push(Block {
                thread: step.what,
                steps: Vec::new(),
            });
        }
        if let Some(block) = blocks.last_mut() {
            let repeated = std::iter::repeat_n(step.what, usize::from(step.count));
            block.steps.extend(repeated);
        }
    }
    blocks
}

fn encode<'a>(blocks: impl Iterator<Item = &'a Block>) -> Vec<Step> {
    let mut steps = Vec::new();
    for what in blocks.flat_map(|b| &b.steps) {
        push_step(&mut steps, *what);
    }
    steps
}

/// The candidates of one round, the most promising last.
fn candidates(taken: &[Step]) -> Vec<Vec<Step>> {
    let blocks = blocks(taken);
    let n = blocks.len();
    let mut all = Vec::new();
    // Drop the end: short starts first, since the tail never preempts.
    for keep in 0..n {
        all.push(encode(blocks[..keep].iter()));
    }
    for i in 0..n {
        // The same thread's next block joins block i, or block i waits for it.
        if let Some(j) = (i + 1..n).find(|&j| blocks[j].thread == blocks[i].thread) {
            let rest = |x: &usize| *x != i && *x != j;
            let forward = (0..i).chain([i, j]).chain((i..n).filter(rest));
            let backward = (0..j).filter(rest).chain([i, j]).chain(j + 1..n);
            all.push(encode(forward.map(|x| &blocks[x])));
            all.push(encode(backward.map(|x| &blocks[x])));
        }
    }
    for i in 0..n {
        all.push(encode((0..n).filter(|&x| x != i).map(|x| &blocks[x])));
    }
    let orders = orders(&blocks);
    for keep in 0..n {
        for order in &orders {
            all.push(regrouped(&blocks, keep, order));
        }
    }
    all.reverse();
    all
}

/// Orders of the threads that are worth a try: all of them for few threads, rotations for many.
fn orders(blocks: &[Block]) -> Vec<Vec<Slot>> {
    let mut threads: Vec<Slot> = blocks.iter().map(|b| b.thread).collect();
    threads.sort_unstable();
    threads.dedup();
    if threads.len() > 4 {
        let rotate = |k| [&threads[k..], &threads[..k]].concat();
        return (0..threads.len()).map(rotate).collect();
    }
    let mut orders = vec![Vec::new()];
    for thread in threads {
        let insert = |order: &Vec<Slot>| {
            let order = order.clone();
            (0..=order.len()).map(move |at| [&order[..at], &[thread], &order[at..]].concat())
        };
        orders = orders.iter().flat_map(insert).collect();
    }
    orders
}

/// The first blocks as they are, then each thread in turn for as long as it can run: its steps and
/// more. Where a thread has to wait in between, the tolerant run skips what is left of its steps
/// and the tail makes up for them.
fn regrouped(blocks: &[Block], keep: usize, order: &[Slot]) -> Vec<Step> {
    let mut steps = encode(blocks[..keep].iter());
    let total: usize = blocks.iter().map(|b| b.steps.len()).sum();
    for &thread in order {
        let own = blocks[keep..].iter().filter(|b| b.thread == thread);
        for what in own.flat_map(|b| &b.steps) {
            push_step(&mut steps, *what);
        }
        for _ in 0..total {
            push_step(&mut steps, thread);
        }
    }
    steps
}
