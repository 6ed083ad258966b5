//! Tail rules: who runs once the prefix is used up. Pure state machines; the gate tells them what
//! threads there are and asks who is next.

mod give_way;
mod sparing;

use crate::rng::Rng;
use crate::slots::{PerSlot, SlotSet};
use give_way::GiveWay;
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;
use raddle_protocol::schedule::Tail;
use raddle_protocol::shared::flags;
use sparing::Sparing;

/// Consecutive steps after which [`Policy::RunUntilBlocked`] and PCT let others go first, so that
/// loops that wait for another thread's write end.
pub const PATIENCE: u32 = 1000;
/// One in so many steps PCT and POS let a time-out happen although others could go on.
const TIMEOUT_ODDS: usize = 128;
/// How much heavier a ready thread is than one whose only way on is a time-out (random walk).
const READY_WEIGHT: usize = 16;
/// One in so many choices is not the usual alternative, where there is one.
const RARELY: usize = 8;
/// Most change points of PCT; a greater depth is cut.
const MAX_CHANGES: usize = 63;

/// What a policy may know at a choice. Not both sets are empty.
pub struct View<'a> {
    /// Who took the last step; `slot::NONE` when it has ended.
    pub running: Slot,
    /// The kind of what `running` announced ([`taken_for`]); meaningless when it has ended.
    pub kind: Kind,
    /// Threads whose operation can complete.
    pub ready: &'a SlotSet,
    /// Threads that can go on by a time-out only.
    pub timed: &'a SlotSet,
    /// The one of `timed` with the earliest deadline (`slot::NONE`: none).
    pub earliest: Slot,
    /// Number of the step to be chosen, from 1.
    pub step: u64,
    /// See [`ends_last`].
    pub ends_last: bool,
}

/// In a symbolic run a thread that is about to end the process lets the others go first, each until it
/// blocks, as after a yield: an execution that shows more of them saves others.
pub fn ends_last(job: u32) -> bool {
    job & flags::SYMBOLIC != 0
}

/// What policies take an announced operation for.
pub fn taken_for(kind: Kind, job: u32) -> Kind {
    match kind {
        Kind::ProcessEnd | Kind::ExitNext if ends_last(job) => Kind::Yield,
        kind => kind,
    }
}

/// A tail rule at work.
#[expect(clippy::large_enum_variant, reason = "there is one, in a static")]
pub enum Policy {
    /// [`Tail::RunUntilBlocked`].
    RunUntilBlocked(Patience),
    /// [`Tail::Random`].
    Random(Rng),
    /// [`Tail::Pct`].
    Pct(Pct),
    /// [`Tail::Pos`].
    Pos(Pos),
    /// [`Tail::GiveWay`].
    GiveWay(GiveWay),
    /// [`Tail::Sparing`].
    Sparing(Sparing),
}

/// Counts consecutive steps of one thread, and steps during which a sleeper was passed over.
#[derive(Default)]
pub struct Patience {
    consecutive: u32,
    passed_over: u32,
}

impl Patience {
    const fn new() -> Patience {
        Patience {
            consecutive: 0,
            passed_over: 0,
        }
    }

    /// Is it a sleeper's turn, although others are ready?
    fn sleeper(&mut self, view: &View) -> Option<Slot> {
        if view.timed.is_empty() {
            self.passed_over = 0;
            return None;
        }
        self.passed_over += 1;
        if view.ready.is_empty() || self.passed_over > PATIENCE {
            self.passed_over = 0;
            return Some(view.earliest);
        }
        None
    }

    /// Should the running thread, which is ready, let others go first?
    fn exhausted(&self, view: &View) -> bool {
        view.kind == Kind::Yield || self.consecutive >= PATIENCE
    }

    fn took(&mut self, view: &View, next: Slot) {
        self.consecutive = if next == view.running {
            self.consecutive + 1
        } else {
            1
        };
    }
}

/// Probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010, section 2.2).
pub struct Pct {
    rng: Rng,
    patience: Patience,
    /// Higher runs first. Initial priorities are random and above 2⁴⁰; change point i gives i + 1;
    /// demotions count down from 0.
    priorities: PerSlot<i64>,
    lowest: i64,
    /// Step numbers, unsorted; 0 once used.
    changes: [u64; MAX_CHANGES],
    changes_len: usize,
    next_change: u64,
    /// The last step that was asked for; those between were prescribed by a prefix.
    last_step: u64,
}

/// Partial order sampling (Yuan et al., CAV 2018, section 4).
pub struct Pos {
    rng: Rng,
    /// Of the thread's announced event; 0: to be drawn.
    priorities: PerSlot<u64>,
}

/// What policies know of an announced operation.
#[derive(Clone, Copy)]
pub struct Operation {
    /// 0: none.
    pub object: u64,
    pub kind: Kind,
}

impl Operation {
    /// Do the two not commute?
    fn races(self, other: Operation) -> bool {
        self.object != 0
            && self.object == other.object
            && !(reads_only(self.kind) && reads_only(other.kind))
    }
}

/// Does an operation of this kind leave its object as it is?
pub fn reads_only(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Read
            | Kind::AtomicRead
            | Kind::ReadRange
            | Kind::SemGetValue
            | Kind::RwRead
            | Kind::RwTryRead
    )
}

impl Policy {
    /// Starts the rule; `None` for words that mean none.
    pub fn new(words: [u64; 4]) -> Option<Policy> {
        Some(match Tail::from_words(words)? {
            Tail::RunUntilBlocked => Policy::RunUntilBlocked(Patience::new()),
            Tail::Random { seed } => Policy::Random(Rng::new(seed)),
            Tail::Pct { seed, depth, steps } => Policy::Pct(Pct::new(seed, depth, steps)),
            Tail::GiveWay { moment } => Policy::GiveWay(GiveWay::new(moment)),
            tail @ Tail::Sparing { .. } => Policy::Sparing(Sparing::new(tail)),
            Tail::Pos { seed } => {
                let mut priorities = PerSlot::new();
                priorities.map();
                Policy::Pos(Pos {
                    rng: Rng::new(seed),
                    priorities,
                })
            }
        })
    }

    /// A rule that needs no memory, for before the job is known.
    pub const fn idle() -> Policy {
        Policy::RunUntilBlocked(Patience::new())
    }

    /// A thread came into being.
    pub fn created(&mut self, s: Slot) {
        if let Policy::Pct(pct) = self {
            pct.priorities[s] = (1 << 40) + (pct.rng.next() >> 2) as i64;
        }
    }

    /// `s` announced its next operation.
    #[inline]
    pub fn announced(&mut self, s: Slot) {
        if let Policy::Pos(pos) = self {
            pos.priorities[s] = 0;
        }
    }

    /// Who takes the next step. `operation` tells what a thread has announced; `announced` are all
    /// the threads that have (blocked ones too).
    #[inline]
    pub fn pick(
        &mut self,
        view: &View,
        announced: &SlotSet,
        operation: impl Fn(Slot) -> Operation,
    ) -> Slot {
        match self {
            Policy::RunUntilBlocked(patience) => run_until_blocked(patience, view),
            Policy::Random(rng) => random(rng, view),
            Policy::Pct(pct) => pct.pick(view),
            Policy::Pos(pos) => pos.pick(view, announced, operation),
            Policy::GiveWay(adversary) => adversary.pick(view, operation),
            Policy::Sparing(sparing) => sparing.pick(view),
        }
    }

    /// [`Policy::choose`] where alternative 0 is the rule and the others are the exception.
    pub fn choose_rarely(&mut self, n: usize) -> usize {
        match self.choose(RARELY) {
            drawn if drawn == RARELY - 1 => 1 + self.choose(n - 1),
            _ => 0,
        }
    }

    /// Chooses a value below `n`.
    pub fn choose(&mut self, n: usize) -> usize {
        match self {
            Policy::RunUntilBlocked(_) | Policy::GiveWay(_) | Policy::Sparing(_) => 0,
            Policy::Random(rng) => rng.below(n),
            Policy::Pct(pct) => pct.rng.below(n),
            Policy::Pos(pos) => pos.rng.below(n),
        }
    }
}

#[inline]
fn run_until_blocked(patience: &mut Patience, view: &View) -> Slot {
    let next = if let Some(sleeper) = patience.sleeper(view) {
        sleeper
    } else if view.ready.contains(view.running) && !patience.exhausted(view) {
        view.running
    } else {
        view.ready.next_after(view.running).unwrap_or(view.earliest)
    };
    patience.took(view, next);
    next
}

#[inline]
fn random(rng: &mut Rng, view: &View) -> Slot {
    let (ready, timed) = (view.ready.len(), view.timed.len());
    if ready + timed == 1 {
        return view.ready.next(0).unwrap_or(view.earliest);
    }
    let n = rng.below(ready * READY_WEIGHT + timed);
    if n < ready * READY_WEIGHT {
        view.ready.nth(n / READY_WEIGHT)
    } else {
        view.timed.nth(n - ready * READY_WEIGHT)
    }
    .unwrap_or(view.earliest)
}

/// The member with the greatest key; the lowest slot among equals.
#[inline]
fn greatest<K: PartialOrd>(set: &SlotSet, mut key: impl FnMut(Slot) -> K) -> Option<Slot> {
    let mut members = set.iter();
    let mut best = members.next()?;
    let mut best_key = key(best);
    for s in members {
        let k = key(s);
        if k > best_key {
            (best, best_key) = (s, k);
        }
    }
    Some(best)
}

/// A time-out out of turn, now and then; always when nothing else is left.
#[inline]
fn odd_timeout(rng: &mut Rng, view: &View) -> Option<Slot> {
    if view.timed.is_empty() || !(view.ready.is_empty() || rng.below(TIMEOUT_ODDS) == 0) {
        return None;
    }
    view.timed.nth(rng.below(view.timed.len()))
}

impl Pct {
    fn new(seed: u64, depth: u32, steps: u64) -> Pct {
        let mut pct = Pct {
            rng: Rng::new(seed),
            patience: Patience::new(),
            priorities: PerSlot::new(),
            lowest: 0,
            changes: [0; MAX_CHANGES],
            changes_len: (depth.saturating_sub(1) as usize).min(MAX_CHANGES),
            next_change: u64::MAX,
            last_step: 0,
        };
        pct.priorities.map();
        for i in 0..pct.changes_len {
            pct.changes[i] = 1 + pct.rng.below(steps.max(1) as usize) as u64;
        }
        pct.find_next_change(1);
        pct
    }

    fn find_next_change(&mut self, from: u64) {
        let changes = &self.changes[..self.changes_len];
        self.next_change = changes
            .iter()
            .copied()
            .filter(|&c| c >= from)
            .min()
            .unwrap_or(u64::MAX);
    }

    fn demote(&mut self, s: Slot) {
        self.lowest -= 1;
        self.priorities[s] = self.lowest;
        self.patience.consecutive = 0;
    }

    fn pick(&mut self, view: &View) -> Slot {
        if view.step != self.last_step + 1 {
            self.find_next_change(view.step);
        }
        self.last_step = view.step;
        if let Some(s) = odd_timeout(&mut self.rng, view).or_else(|| self.patience.sleeper(view)) {
            self.patience.took(view, s);
            return s;
        }
        if view.ready.contains(view.running) && self.patience.exhausted(view) {
            self.demote(view.running);
        }
        let mut next = self.first(view);
        while view.step >= self.next_change {
            for i in 0..self.changes_len {
                if self.changes[i] == self.next_change {
                    self.priorities[next] = i as i64 + 1;
                    next = self.first(view);
                }
            }
            self.find_next_change(self.next_change + 1);
        }
        self.patience.took(view, next);
        next
    }

    fn first(&self, view: &View) -> Slot {
        greatest(view.ready, |s| self.priorities[s]).unwrap_or(view.earliest)
    }
}

impl Pos {
    fn pick(
        &mut self,
        view: &View,
        announced: &SlotSet,
        operation: impl Fn(Slot) -> Operation,
    ) -> Slot {
        let next = match odd_timeout(&mut self.rng, view) {
            Some(s) => s,
            None => {
                let (rng, priorities) = (&mut self.rng, &mut self.priorities);
                greatest(view.ready, |s| {
                    if priorities[s] == 0 {
                        priorities[s] = rng.next() | 1;
                    }
                    priorities[s]
                })
                .unwrap_or(view.earliest)
            }
        };
        let performed = operation(next);
        if performed.object != 0 {
            for s in announced.iter() {
                if s != next && performed.races(operation(s)) {
                    self.priorities[s] = 0;
                }
            }
        }
        next
    }
}

#[cfg(test)]
#[path = "policy_tests.rs"]
mod tests;
