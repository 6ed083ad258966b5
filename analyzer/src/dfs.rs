//! Plain exhaustive search over all schedules, the oracle for every cleverer policy.

use crate::search::{Next, Plan, Search, Standing};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::schedule::{CHOICE_BIT, Step, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;

/// Depth-first enumeration of all interleavings, from traces that hold
/// [`Kind::Enabled`] records.
///
/// Every scheduling decision and every [`Kind::Choice`] of an execution becomes a point with its
/// alternatives; the next prefix changes the last point that has an alternative left. Each
/// interleaving is asked for exactly once.
#[derive(Debug, Default)]
pub struct Dfs {
    points: Vec<Point>,
    started: bool,
    /// An execution is under way.
    out: bool,
    explored: bool,
    /// An execution came to nothing.
    lost: bool,
    mismatches: u64,
}

/// One decision of the current execution.
#[derive(Debug)]
struct Point {
    taken: u16,
    untried: Vec<u16>,
}

impl Dfs {
    /// Nothing is explored yet.
    pub fn new() -> Dfs {
        Dfs::default()
    }

    /// What to run next, as a prefix with the tail [`RunUntilBlocked`]; `None` when all
    /// interleavings are explored. Every prefix must be [observed](Dfs::observe) before the next
    /// one is asked for.
    ///
    /// [`RunUntilBlocked`]: raddle_protocol::schedule::Tail::RunUntilBlocked
    pub fn next_prefix(&mut self) -> Option<Vec<Step>> {
        if !self.started {
            self.started = true;
            return Some(Vec::new());
        }
        loop {
            let last = self.points.last_mut()?;
            if let Some(next) = last.untried.pop() {
                last.taken = next;
                break;
            }
            self.points.pop();
        }
        let mut prefix = Vec::new();
        for point in &self.points {
            push_step(&mut prefix, point.taken);
        }
        Some(prefix)
    }

    /// Learns the decisions of the execution that the last prefix led to.
    pub fn observe(&mut self, trace: &Trace) {
        let seen = points(&trace.events);
        let agrees = |(old, new): (&Point, &Point)| old.taken == new.taken;
        if seen.len() < self.points.len() || !self.points.iter().zip(&seen).all(agrees) {
            self.mismatches += 1;
            return;
        }
        let known = self.points.len();
        self.points.extend(seen.into_iter().skip(known));
    }

    /// How many executions did not follow their prefix: the program depends on something that is
    /// not controlled, and the enumeration is not exhaustive.
    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }
}

impl Search for Dfs {
    fn next(&mut self, _: u64) -> Next {
        if self.out {
            return Next::Wait;
        }
        match self.next_prefix() {
            Some(prefix) => {
                self.out = true;
                Next::Run(Plan {
                    prefix,
                    flags: flags::EVENTS | flags::ENABLED,
                    ..Plan::tail(Tail::RunUntilBlocked)
                })
            }
            None => {
                self.explored = true;
                Next::Done
            }
        }
    }

    fn observe(&mut self, _: u64, trace: &Trace) {
        self.out = false;
        Dfs::observe(self, trace);
    }

    fn lost(&mut self, _: u64) {
        self.out = false;
        self.lost = true;
    }

    fn standing(&self) -> Standing {
        Standing {
            complete: self.explored && !self.lost,
            mismatches: self.mismatches,
            ..Standing::default()
        }
    }

    /// Four numbers, then for each point: what was taken, how many are untried, and those.
    fn save(&self) -> Option<Vec<u64>> {
        if self.out {
            return None;
        }
        let flags = [self.started, self.explored, self.lost].map(u64::from);
        let mut saved = [&flags[..], &[self.mismatches]].concat();
        for point in &self.points {
            saved.extend([u64::from(point.taken), point.untried.len() as u64]);
            saved.extend(point.untried.iter().map(|&x| u64::from(x)));
        }
        Some(saved)
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let restored = Dfs::of_saved(saved);
        let sensible = restored.is_some();
        *self = restored.unwrap_or_else(|| std::mem::take(self));
        sensible
    }
}

impl Dfs {
    fn of_saved(saved: &[u64]) -> Option<Dfs> {
        let (&[started, explored, lost, mismatches], mut rest) = saved.split_first_chunk()?;
        if started.max(explored).max(lost) > 1 {
            return None;
        }
        let mut points = Vec::new();
        while let [taken, count, after @ ..] = rest {
            let (untried, after) = after.split_at_checked(usize::try_from(*count).ok()?)?;
            let what = |&n: &u64| u16::try_from(n).ok();
            points.push(Point {
                taken: what(taken)?,
                untried: untried.iter().map(what).collect::<Option<_>>()?,
            });
            rest = after;
        }
        rest.is_empty().then_some(Dfs {
            points,
            started: started == 1,
            out: false,
            explored: explored == 1,
            lost: lost == 1,
            mismatches,
        })
    }
}

/// The decisions of one execution, in order.
fn points(events: &[Event]) -> Vec<Point> {
    let mut points = Vec::new();
    let mut enabled: Vec<u16> = Vec::new();
    for event in events {
        match event.kind() {
            Some(Kind::Enabled) => enabled.extend(event.enabled_slots()),
            Some(Kind::Choice) => {
                let taken = event.value as u16 | CHOICE_BIT;
                let all = (0..event.aux as u16).rev().map(|n| n | CHOICE_BIT);
                points.push(point(taken, all));
            }
            Some(kind) if kind.is_step() => {
                points.push(point(event.thread, enabled.drain(..).rev()));
            }
            _ => {}
        }
    }
    points
}

fn point(taken: u16, all: impl Iterator<Item = u16>) -> Point {
    Point {
        taken,
        untried: all.filter(|&x| x != taken).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        Trace {
            events,
            taken: Vec::new(),
            nodes: Vec::new(),
            outcome: raddle_protocol::trace::Outcome {
                end: raddle_protocol::outcome::End::Exit,
                code: 0,
                thread: 0,
                detail: [0; 4],
                message: String::new(),
                stack: Vec::new(),
                waits: Vec::new(),
                timed_out: false,
            },
            counters: Default::default(),
            uncontrolled: Vec::new(),
            stdout: Vec::new(),
            stderr: Vec::new(),
        }
    }

    fn explore(search: &mut Dfs, most: usize) -> Vec<Vec<Step>> {
        let mut plans = Vec::new();
        while plans.len() < most
            && let Next::Run(plan) = search.next(plans.len() as u64)
        {
            assert_eq!(search.save(), None, "it is under way");
            Search::observe(search, 0, &run(&plan.prefix));
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
        let wrong: [&[u64]; 6] = [
            &[],
            &[1, 0, 0],
            &[2, 0, 0, 0],
            &[1, 0, 0, 0, 7],
            &[1, 0, 0, 0, 7, u64::MAX],
            &[1, 0, 0, 0, 1 << 16, 0],
        ];
        for numbers in wrong {
            assert!(!search.restore(numbers), "{numbers:?}");
            assert_eq!(search.save().unwrap(), saved);
        }
    }
}
