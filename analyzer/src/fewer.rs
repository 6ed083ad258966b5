//! Is there a schedule with the same failure and fewer preemptions? A search of all schedules
//! within a bound of preemptions (Musuvathi and Qadeer, PLDI 2007), those first that are like the
//! known one.

use crate::bounds::{Bound, Point, points};
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::job::push_step;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::Step;
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// What the runs must record.
pub const RECORDS: u32 = flags::EVENTS | flags::ENABLED;

/// More schedules than this never wait to be run: beyond it some are left out.
const MOST_WAITING: usize = 1 << 18;

/// The bound of the search.
const BOUND: Bound = Bound::Preemptions(None);

/// The search for one failing execution. Its schedules are prefixes for strict runs with the tail
/// `RunUntilBlocked`.
///
/// A schedule is the more like the known one the more of that one's switches it has: after the same
/// number of steps of the same thread to the same other thread. So the schedules come first that
/// leave out one preemption and keep the rest, then those that also move one, and so on; when none
/// is left, all interleavings within the bound were run.
#[derive(Debug)]
pub struct Fewer {
    /// So many preemptions are allowed.
    limit: u32,
    /// Where the known schedule switches: from whom, after how many of its steps, to whom.
    switches: HashMap<(Slot, u64), u16>,
    waiting: BinaryHeap<Branch>,
    under_way: Option<Branch>,
    /// How many schedules were ever put on the heap.
    count: u64,
    /// Not all of what was meant to be run was run.
    gaps: bool,
}

/// The beginning of an execution. The greatest is run first: the one with the most switches in
/// common with the known schedule, then the one with the fewest preemptions, then the latest.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Branch {
    alike: u32,
    cost: Reverse<u32>,
    number: u64,
    /// An execution that begins in the same way up to `len`.
    base: Arc<[u16]>,
    len: usize,
    /// What follows, if anything.
    what: Option<u16>,
}

impl Branch {
    fn prefix(&self) -> impl Iterator<Item = u16> + '_ {
        self.base[..self.len].iter().copied().chain(self.what)
    }
}

impl Fewer {
    /// Starts from a failing execution with [`RECORDS`] and so many preemptions, at least one.
    pub fn new(failing: &Trace, preemptions: u64) -> Fewer {
        let mut switches = HashMap::new();
        let mut counts = Counts::default();
        for point in &points(&failing.events) {
            stop::point();
            if let Some(from) = counts.switch(point, point.taken) {
                switches.insert(from, point.taken);
            }
            counts.take(point.taken);
        }
        let root = Branch {
            alike: 0,
            cost: Reverse(0),
            number: 0,
            base: Arc::new([]),
            len: 0,
            what: None,
        };
        Fewer {
            limit: u32::try_from(preemptions.saturating_sub(1)).unwrap_or(u32::MAX),
            switches,
            waiting: BinaryHeap::from([root]),
            under_way: None,
            count: 1,
            gaps: preemptions == 0,
        }
    }

    /// The next schedule; `None` when there are no more.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<Vec<Step>> {
        // What was not observed came to nothing.
        self.gaps |= self.under_way.is_some();
        self.under_way = self.waiting.pop();
        let mut prefix = Vec::new();
        for what in self.under_way.as_ref()?.prefix() {
            stop::point();
            push_step(&mut prefix, what);
        }
        Some(prefix)
    }

    /// What the last schedule led to.
    pub fn observe(&mut self, trace: &Trace) {
        let Some(branch) = self.under_way.take() else {
            return;
        };
        let points = points(&trace.events);
        let known = branch.prefix().count();
        let followed = branch.prefix().zip(&points).all(|(a, b)| a == b.taken);
        // Where the records do not say what every switch costs, the bound means another thing.
        let counted = points.iter().filter(|p| p.preempts()).count() as u64;
        if points.len() < known
            || !followed
            || counted != trace.counters.preemptions
            || trace.outcome.end == End::StepLimit
            || trace.outcome.timed_out
            || !trace.uncontrolled.is_empty()
        {
            self.gaps = true;
            return;
        }
        self.expand(known, &points);
    }

    /// All interleavings with fewer preemptions were run.
    pub fn exhausted(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_none() && !self.gaps
    }

    fn expand(&mut self, known: usize, points: &[Point]) {
        let base: Arc<[u16]> = points.iter().map(|p| p.taken).collect();
        let mut counts = Counts::default();
        let (mut spent, mut alike) = (0, 0);
        for (len, point) in points.iter().enumerate() {
            stop::point();
            if spent > self.limit {
                return;
            }
            let others = point.all.iter().filter(|&&what| what != point.taken);
            for &what in others.filter(|_| len >= known) {
                stop::point();
                let cost = spent + BOUND.cost(point, what);
                if cost > self.limit {
                    continue;
                }
                if self.waiting.len() >= MOST_WAITING {
                    self.gaps = true;
                    return;
                }
                self.waiting.push(Branch {
                    alike: alike + self.alike(&counts, point, what),
                    cost: Reverse(cost),
                    number: self.count,
                    base: base.clone(),
                    len,
                    what: Some(what),
                });
                self.count += 1;
            }
            alike += self.alike(&counts, point, point.taken);
            spent += BOUND.cost(point, point.taken);
            counts.take(point.taken);
        }
    }

    /// 1 if the known schedule switches in the same way, otherwise 0.
    fn alike(&self, counts: &Counts, point: &Point, what: u16) -> u32 {
        let from = counts.switch(point, what);
        u32::from(from.is_some_and(|from| self.switches.get(&from) == Some(&what)))
    }
}

/// How many steps each thread has taken.
#[derive(Default)]
struct Counts(HashMap<Slot, u64>);

impl Counts {
    /// If `what` is a switch to another thread: from whom, and after how many of its steps.
    fn switch(&self, point: &Point, what: u16) -> Option<(Slot, u64)> {
        let thread = !Step { what, count: 1 }.is_choice();
        let of = |thread| self.0.get(&thread).copied().unwrap_or(0);
        (thread && what != point.running).then(|| (point.running, of(point.running)))
    }

    fn take(&mut self, what: u16) {
        if !(Step { what, count: 1 }).is_choice() {
            *self.0.entry(what).or_default() += 1;
        }
    }
}
