//! Makes a failing schedule easy to read: few preemptions first, then few steps.

use raddle_protocol::Slot;
use raddle_protocol::job::{push_step, total_steps};
use raddle_protocol::schedule::{CHOICE_BIT, Step};
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

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
    /// Preemptions (`None`: not known yet), choices other than the first alternative, and steps of
    /// `best`.
    cost: (Option<u64>, u64, u64),
    /// What `best` consists of.
    blocks: Vec<Block>,
    orders: Vec<Vec<Slot>>,
    /// What is to be done to `best` in this round, the next one last. A long schedule has very
    /// many candidates: each is made when its turn comes.
    round: Vec<Edit>,
    /// Hashes of the candidates so far.
    tried: HashSet<u64>,
    asked: usize,
    most: usize,
}

impl Shrinker {
    /// Starts from the steps of a failing execution.
    pub fn new(taken: Vec<Step>) -> Shrinker {
        let steps = total_steps(&taken);
        let mut shrinker = Shrinker {
            best: Vec::new(),
            cost: (None, detours(&taken), steps),
            blocks: Vec::new(),
            orders: Vec::new(),
            round: Vec::new(),
            tried: HashSet::new(),
            asked: 0,
            most: MAX_CANDIDATES,
        };
        shrinker.start_round(taken);
        // The schedule itself comes first: its run tells how many preemptions it has.
        shrinker.round.push(Edit::Keep(usize::MAX));
        shrinker
    }

    /// Asks for so many candidates at most.
    pub fn at_most(mut self, candidates: usize) -> Shrinker {
        self.most = candidates.min(MAX_CANDIDATES);
        self
    }

    fn start_round(&mut self, best: Vec<Step>) {
        self.blocks = blocks(&best);
        self.orders = orders(&self.blocks);
        self.round = edits(&self.blocks, self.orders.len());
        self.best = best;
    }

    /// The next candidate; `None` when the search is over.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Vec<Step>> {
        while self.asked < self.most {
            let candidate = self.round.pop()?.apply(&self.blocks, &self.orders);
            if self.tried.insert(hash(&candidate)) {
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
            Some(best) => (preemptions, detours(taken), steps) < (best, self.cost.1, self.cost.2),
        };
        if better {
            self.cost = (Some(preemptions), detours(taken), steps);
            self.start_round(taken.to_vec());
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

/// How many choices are of another alternative than the first.
fn detours(steps: &[Step]) -> u64 {
    steps.iter().filter(|step| is_detour(step.what)).count() as u64
}

/// Another alternative than the first, which somebody chose.
fn is_detour(what: u16) -> bool {
    let step = Step { what, count: 1 };
    step.is_choice() && !step.is_fact() && what != CHOICE_BIT
}

/// What one thread did without interruption, choices included.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    pub thread: Slot,
    pub steps: Vec<u16>,
}

impl Block {
    fn calm(&self) -> Block {
        let first = |&what: &u16| {
            if is_detour(what) { CHOICE_BIT } else { what }
        };
        Block {
            thread: self.thread,
            steps: self.steps.iter().map(first).collect(),
        }
    }

    fn has_detours(&self) -> bool {
        self.steps.iter().any(|&what| is_detour(what))
    }
}

pub(crate) fn blocks(steps: &[Step]) -> Vec<Block> {
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

pub(crate) fn encode<'a>(blocks: impl Iterator<Item = &'a Block>) -> Vec<Step> {
    let mut steps = Vec::new();
    for what in blocks.flat_map(|b| &b.steps) {
        push_step(&mut steps, *what);
    }
    steps
}

/// One way to make a schedule simpler; numbers are those of its blocks.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// Only the first ones.
    Keep(usize),
    /// All but `count` from `from` on.
    Drop { from: usize, count: usize },
    /// The second, of the same thread, directly behind the first.
    Forward(usize, usize),
    /// The first waits for the second.
    Backward(usize, usize),
    /// The first alternative in all choices of this block, or of all blocks.
    Calm(Option<usize>),
    /// See [`regrouped`]; the second is the number of an order.
    Regroup(usize, usize),
}

impl Edit {
    fn apply(self, blocks: &[Block], orders: &[Vec<Slot>]) -> Vec<Step> {
        let n = blocks.len();
        let chosen = |order: &mut dyn Iterator<Item = usize>| encode(order.map(|x| &blocks[x]));
        match self {
            Edit::Keep(keep) => chosen(&mut (0..keep.min(n))),
            Edit::Drop { from, count } => chosen(&mut (0..from).chain(from + count..n)),
            Edit::Forward(i, j) => {
                let rest = |x: &usize| *x != i && *x != j;
                chosen(&mut (0..i).chain([i, j]).chain((i..n).filter(rest)))
            }
            Edit::Backward(i, j) => {
                let rest = |x: &usize| *x != i && *x != j;
                chosen(&mut (0..j).filter(rest).chain([i, j]).chain(j + 1..n))
            }
            Edit::Calm(which) => {
                let calm = |(i, block): (usize, &Block)| match which.is_none_or(|w| w == i) {
                    true => block.calm(),
                    false => block.clone(),
                };
                let blocks: Vec<Block> = blocks.iter().enumerate().map(calm).collect();
                encode(blocks.iter())
            }
            Edit::Regroup(keep, order) => regrouped(blocks, keep, &orders[order]),
        }
    }
}

/// Schedules with more blocks than this are cut in large pieces first.
const LONG: usize = 64;

/// More of a kind are never asked for, even when many turn out to be known already.
const MOST_OF_A_KIND: usize = 4 * MAX_CANDIDATES;

/// The candidates of one round, the most promising last.
fn edits(blocks: &[Block], orders: usize) -> Vec<Edit> {
    let n = blocks.len();
    let mut all = Vec::new();
    let detours = (0..n).filter(|&i| blocks[i].has_detours());
    let calm: Vec<Edit> = detours.map(|i| Edit::Calm(Some(i))).collect();
    if !calm.is_empty() {
        all.push(Edit::Calm(None));
        all.extend(calm.into_iter().take(MOST_OF_A_KIND));
    }
    // Drop the end: short starts first, since the tail never preempts.
    if n > LONG {
        all.extend((0..16).map(|k| Edit::Keep(n * k / 16)));
        let mut count = n / 2;
        while count > 1 && all.len() < MAX_CANDIDATES {
            let pieces = (0..n).step_by(count);
            all.extend(pieces.map(|from| Edit::Drop {
                from,
                count: count.min(n - from),
            }));
            count /= 2;
        }
    }
    all.extend((0..n).map(Edit::Keep).take(MOST_OF_A_KIND));
    // The same thread's next block joins a block, or that block waits for it.
    let mut before: HashMap<Slot, usize> = HashMap::new();
    let neighbours = blocks.iter().enumerate().filter_map(|(j, block)| {
        let i = before.insert(block.thread, j)?;
        Some([Edit::Forward(i, j), Edit::Backward(i, j)])
    });
    all.extend(neighbours.flatten().take(MOST_OF_A_KIND));
    let drops = (0..n).map(|from| Edit::Drop { from, count: 1 });
    all.extend(drops.take(MOST_OF_A_KIND));
    let regroups = (0..n).flat_map(|keep| (0..orders).map(move |o| Edit::Regroup(keep, o)));
    all.extend(regroups.take(MOST_OF_A_KIND));
    all.reverse();
    all
}

fn hash(steps: &[Step]) -> u64 {
    let mut hasher = DefaultHasher::new();
    steps.hash(&mut hasher);
    hasher.finish()
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
