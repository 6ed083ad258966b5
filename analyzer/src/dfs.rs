//! Exhaustive search over schedules, all of them or those within a bound: the oracle for every
//! cleverer policy.

use crate::bounds::{Bound, Point, points};
use crate::dpor::{Execution, RECORDS};
use crate::inuse;
use crate::search::{Next, Plan, Search, Standing};
use crate::stop;
use crate::words::{Row, put_list};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::{Step, Tail};
use raddle_protocol::trace::Trace;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// Enumeration of interleavings, from traces that hold records of who was enabled.
///
/// Every scheduling decision and every choice of an execution becomes a point with its
/// alternatives; each alternative at a point beyond the prefix that was asked for becomes a prefix
/// to be run. So each interleaving is asked for exactly once, the deepest alternative first, and
/// any number of executions can be under way.
#[derive(Debug, Default)]
pub struct Dfs {
    bound: Bound,
    /// What may be spent now.
    limit: Option<u32>,
    started: bool,
    /// To be run, the next one last.
    stack: Vec<Branch>,
    /// Beyond the limit, by what they cost.
    later: BTreeMap<u32, Vec<Branch>>,
    /// Something was left out because it costs too much.
    dropped: bool,
    out: HashMap<u64, Branch>,
    mismatches: u64,
    /// Mazurkiewicz traces seen, where nobody looks at the clock, and where somebody does.
    classes: [HashSet<[u64; 2]>; 2],
    looks: bool,
    /// There were too many classes to be saved: how many there are is not known.
    uncounted: bool,
    /// See [`inuse::is_written`].
    written: bool,
}

/// So many classes are saved at most.
const MOST_CLASSES: usize = 50_000;

/// The beginning of an execution.
#[derive(Clone, Debug)]
struct Branch {
    /// An execution that begins in the same way up to `len`.
    base: Arc<[u16]>,
    len: usize,
    /// What follows, if anything.
    what: Option<u16>,
    cost: u32,
}

impl Branch {
    fn root() -> Branch {
        Branch {
            base: Arc::new([]),
            len: 0,
            what: None,
            cost: 0,
        }
    }

    fn prefix(&self) -> impl Iterator<Item = u16> + '_ {
        self.base[..self.len].iter().copied().chain(self.what)
    }
}

impl Dfs {
    /// Every interleaving.
    pub fn new() -> Dfs {
        Dfs::default()
    }

    /// Every interleaving within a bound.
    pub fn bounded(bound: Bound) -> Dfs {
        Dfs {
            bound,
            limit: bound.limit(),
            ..Dfs::default()
        }
    }

    /// What to run next, as a prefix with the tail [`Tail::RunUntilBlocked`], where one execution is
    /// under way at a time; `None` when all interleavings are explored. Every prefix must be
    /// [observed](Dfs::observe) before the next one is asked for.
    pub fn next_prefix(&mut self) -> Option<Vec<Step>> {
        match Search::next(self, 0) {
            Next::Run(plan) => Some(plan.prefix),
            Next::Wait | Next::Done => None,
        }
    }

    /// Learns the decisions of the execution that [`Dfs::next_prefix`] led to.
    pub fn observe(&mut self, trace: &Trace) {
        Search::observe(self, 0, trace);
    }

    /// How many executions did not follow their prefix: the program depends on something that is
    /// not controlled, and the enumeration is not exhaustive.
    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }

    /// The next branch; raises the limit when all within it are explored.
    fn pop(&mut self) -> Option<Branch> {
        if !std::mem::replace(&mut self.started, true) {
            return Some(Branch::root());
        }
        if self.stack.is_empty() && self.out.is_empty() && self.bound.deepens() {
            let (limit, branches) = self.later.pop_first()?;
            self.limit = Some(limit);
            self.stack = branches;
        }
        self.stack.pop()
    }

    /// Everything within the bound was run.
    fn finished(&self) -> bool {
        self.started && self.stack.is_empty() && self.later.is_empty() && self.out.is_empty()
    }

    fn expand(&mut self, branch: &Branch, points: &[Point]) {
        let known = branch.prefix().count();
        let base: Arc<[u16]> = points.iter().map(|p| p.taken).collect();
        let mut spent = branch.cost;
        for (len, point) in points.iter().enumerate().skip(known) {
            stop::point();
            for &what in point.all.iter().rev().filter(|&&what| what != point.taken) {
                stop::point();
                let cost = spent + self.bound.cost(point, what);
                let branch = Branch {
                    base: base.clone(),
                    len,
                    what: Some(what),
                    cost,
                };
                match self.limit {
                    Some(limit) if cost > limit && self.bound.deepens() => {
                        self.later.entry(cost).or_default().push(branch);
                    }
                    Some(limit) if cost > limit => self.dropped = true,
                    _ => self.stack.push(branch),
                }
            }
            spent += self.bound.cost(point, point.taken);
        }
    }
}

impl Search for Dfs {
    fn next(&mut self, n: u64) -> Next {
        let Some(branch) = self.pop() else {
            return match self.out.is_empty() {
                true => Next::Done,
                false => Next::Wait,
            };
        };
        let mut prefix = Vec::new();
        for what in branch.prefix() {
            stop::point();
            push_step(&mut prefix, what);
        }
        self.out.insert(n, branch);
        Next::Run(Plan {
            prefix,
            flags: RECORDS,
            ..Plan::tail(Tail::RunUntilBlocked)
        })
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        // It counts as under way until all of this is done, which a stop may cut short.
        let Some(branch) = self.out.get(&n).cloned() else {
            return;
        };
        let points = points(&trace.events);
        let known = branch.prefix().count();
        let followed = branch.prefix().zip(&points).all(|(a, b)| a == b.taken);
        if points.len() < known || !followed {
            self.mismatches += 1;
            self.out.remove(&n);
            return;
        }
        for (clock, classes) in [false, true].into_iter().zip(&mut self.classes) {
            stop::point();
            let execution = Execution::new(trace, clock);
            self.looks |= execution.looks;
            self.written |= !clock && execution.writes_what_is_in_use();
            classes.insert(execution.class());
        }
        self.expand(&branch, &points);
        self.out.remove(&n);
    }

    fn lost(&mut self, n: u64) {
        if let Some(branch) = self.out.remove(&n) {
            self.stack.push(branch);
        }
    }

    fn standing(&self) -> Standing {
        let mut bounds = Vec::new();
        let mut notes = Vec::new();
        if self.written {
            bounds.push(inuse::WRITTEN.to_string());
        }
        if let Some(limit) = self.limit {
            let text = self.bound.text(limit);
            if self.dropped {
                bounds.push(text.clone());
            }
            if self.started && self.stack.is_empty() && self.out.is_empty() {
                notes.push(format!("all interleavings with {text} explored"));
            } else if self.bound.deepens() && limit > 0 {
                let text = self.bound.text(limit - 1);
                notes.push(format!("all interleavings with {text} explored"));
            }
        }
        Standing {
            complete: self.finished(),
            classes: (!self.uncounted).then(|| self.classes[usize::from(self.looks)].len() as u64),
            mismatches: self.mismatches,
            bounds,
            notes,
        }
    }

    /// Seven numbers, the classes, then for each branch: what it costs and its steps. Those to be run
    /// first come last.
    fn save(&self) -> Option<Vec<u64>> {
        let many = self.classes.iter().any(|c| c.len() > MOST_CLASSES);
        let flags = [
            self.started,
            self.dropped,
            self.looks,
            self.uncounted || many,
            self.written,
        ];
        let mut saved = flags.map(u64::from).to_vec();
        let limit = self.limit.map_or(0, |limit| u64::from(limit) + 1);
        saved.extend([self.mismatches, limit]);
        for classes in &self.classes {
            stop::point();
            let mut classes: Vec<&[u64; 2]> = classes.iter().filter(|_| !many).collect();
            classes.sort_unstable();
            put_list(&mut saved, &classes, |row, class| row.extend(*class));
        }
        let mut under_way: Vec<(&u64, &Branch)> = self.out.iter().collect();
        under_way.sort_unstable_by_key(|&(&n, _)| std::cmp::Reverse(n));
        let under_way = under_way.into_iter().map(|(_, branch)| branch);
        let later = self.later.values().flatten();
        let branches: Vec<&Branch> = later.chain(&self.stack).chain(under_way).collect();
        put_list(&mut saved, &branches, |row, branch| {
            row.push(u64::from(branch.cost));
            let steps: Vec<u16> = branch.prefix().collect();
            put_list(row, &steps, |row, &what| row.push(u64::from(what)));
        });
        Some(saved)
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let restored = Dfs::of_saved(self.bound, &mut Row(saved));
        let sensible = restored.is_some();
        *self = restored.unwrap_or_else(|| std::mem::take(self));
        sensible
    }
}

impl Dfs {
    fn of_saved(bound: Bound, row: &mut Row<'_>) -> Option<Dfs> {
        let mut dfs = Dfs {
            started: row.flag()?,
            dropped: row.flag()?,
            looks: row.flag()?,
            uncounted: row.flag()?,
            written: row.flag()?,
            mismatches: row.number()?,
            ..Dfs::bounded(bound)
        };
        let limit: u32 = row.number()?;
        (bound.limit().is_some() == (limit > 0)).then_some(())?;
        dfs.limit = limit.checked_sub(1);
        for classes in &mut dfs.classes {
            stop::point();
            let all = row.list(|row| Some([row.number()?, row.number()?]))?;
            *classes = all.into_iter().collect();
        }
        let branches = row.list(|row| {
            let cost = row.number()?;
            let base: Arc<[u16]> = row.list(Row::number)?.into();
            let len = base.len();
            Some(Branch {
                base,
                len,
                what: None,
                cost,
            })
        })?;
        for branch in branches {
            stop::point();
            match dfs.limit {
                Some(limit) if branch.cost > limit => {
                    dfs.later.entry(branch.cost).or_default().push(branch);
                }
                _ => dfs.stack.push(branch),
            }
        }
        row.is_empty().then_some(dfs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::event::{Event, Kind};
    use raddle_protocol::outcome::End;
    use raddle_protocol::trace::Outcome;

    /// Executions of two threads of two steps each, run as they are asked for.
    fn run(prefix: &[Step]) -> Trace {
        let asked = prefix
            .iter()
            .flat_map(|s| (0..s.count).map(move |_| s.what));
        let mut asked = asked.collect::<Vec<u16>>().into_iter();
        let mut left = [2, 2];
        let mut events = Vec::new();
        while left != [0, 0] {
            let enabled: Vec<u16> = (0..2).filter(|&t| left[usize::from(t)] > 0).collect();
            let thread = asked.next().unwrap_or(enabled[0]);
            left[usize::from(thread)] -= 1;
            let slots = enabled.iter().enumerate();
            events.push(Event {
                kind: Kind::Enabled as u8,
                size: enabled.len() as u8,
                object: slots.fold(0, |word, (i, &t)| word | u64::from(t) << (16 * i)),
                ..Event::default()
            });
            events.push(Event {
                kind: Kind::Yield as u8,
                thread,
                ..Event::default()
            });
        }
        Trace::new(events, Vec::new(), Outcome::new(End::Exit, 0))
    }

    fn explore(search: &mut Dfs, most: usize) -> Vec<Vec<Step>> {
        let mut plans = Vec::new();
        while plans.len() < most
            && let Next::Run(plan) = search.next(plans.len() as u64)
        {
            Search::observe(search, plans.len() as u64, &run(&plan.prefix));
            plans.push(plan.prefix);
        }
        plans
    }

    #[test]
    fn a_search_that_was_cut_in_two_is_the_same() {
        let whole = explore(&mut Dfs::new(), usize::MAX);
        assert_eq!(whole.len(), 6);
        for cut in 0..=whole.len() {
            let mut first = Dfs::new();
            let mut plans = explore(&mut first, cut);
            let mut second = Dfs::new();
            assert!(second.restore(&first.save().unwrap()));
            plans.extend(explore(&mut second, usize::MAX));
            assert_eq!(plans, whole, "{cut}");
            assert!(second.standing().complete);
        }
    }

    #[test]
    fn numbers_without_sense_change_nothing() {
        let mut search = Dfs::new();
        explore(&mut search, 2);
        let saved = search.save().unwrap();
        let wrong: [&[u64]; 8] = [
            &[],
            &[1, 0, 0, 0, 0, 0, 0, 0],
            &[2, 0, 0, 0, 0, 0, 0, 0, 0],
            &[1, 0, 0, 0, 0, 5, 0, 0, 0],
            &[1, 0, 0, 0, 0, 0, 1, 0, 0],
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, 7],
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, 7, u64::MAX],
            &[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1 << 16],
        ];
        for numbers in wrong {
            assert!(!search.restore(numbers), "{numbers:?}");
            assert_eq!(search.save().unwrap(), saved);
        }
    }
}
