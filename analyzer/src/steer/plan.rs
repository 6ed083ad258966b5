//! What the next execution is to do.

use super::pool::Detour;
use super::table::{Pair, PairId};
use super::{PLAIN, Steer, plain, tolerant};
use crate::sampling::{MIX_DEPTH, seed_of};
use crate::search::Plan;
use raddle_protocol::constraint::{Constraint, Point, Rule};
use raddle_protocol::schedule::Tail;

/// With every so many executions the weight of [`Way::Step`] grows by one, ...
const STEPS: u64 = 16;
/// ... up to this, which is some two of three executions.
const MOST_STEPS: u64 = 250;

/// The ways to choose constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// An untested pair, perhaps with others.
    Drive,
    /// Several pairs, tested or not.
    Combine,
    /// Two pairs, each waiting for the other time and again.
    TakeTurns,
    /// A delay ([`super::delays`]) of a kind that was hardly tried.
    Fresh,
    /// One of an execution that few delays led to.
    Shallow,
    /// One of any execution.
    Deep,
    /// A step that was never taken in a state ([`super::states`]).
    Step,
    Plain,
}

/// What an execution is to do, and what for.
pub(super) struct Made {
    pub plan: Plan,
    /// The pairs that it is for.
    pub aims: Vec<PairId>,
    /// How many delays lead to it; 1 where that has no meaning.
    pub depth: u32,
}

impl Made {
    pub fn of(plan: Plan, aims: Vec<PairId>) -> Made {
        Made {
            plan,
            aims,
            depth: 1,
        }
    }
}

impl Steer {
    /// The plan of execution `n`.
    pub(super) fn plan(&mut self, n: u64) -> Made {
        let made = match self.way(n) {
            Way::Plain => None,
            Way::Drive => self.drive(n),
            Way::Combine => self.combine(n),
            Way::TakeTurns => self.take_turns(n),
            Way::Step => self.step(n),
            way => self.delay(n, way),
        };
        made.unwrap_or_else(|| {
            let tail = plain(self.seed, n, self.longest);
            Made::of(Plan::tail(tail), Vec::new())
        })
    }

    fn way(&mut self, n: u64) -> Way {
        if self.table.pairs.is_empty() || self.draw.chance(1, PLAIN) {
            return Way::Plain;
        }
        let hope = self.table.pairs.iter().map(promise).max().unwrap_or(0);
        let steps = match self.states.has_missing() {
            true => (n / STEPS).min(MOST_STEPS) as u32,
            false => 0,
        };
        let ways = [
            (Way::Fresh, if self.pool.has_fresh() { 200 } else { 0 }),
            (Way::Shallow, 3),
            (Way::Deep, 3),
            (Way::Drive, if hope == FRESH { 3 } else { 1 }),
            (Way::Combine, 1),
            (Way::TakeTurns, 16),
            (Way::Step, steps),
        ];
        match self.draw.weighted(ways.iter().map(|w| w.1)) {
            Some(i) => ways[i].0,
            None => Way::Plain,
        }
    }

    fn patience(&self) -> u32 {
        (self.shortest.min(50_000) * 2 + 50).clamp(100, 50_000) as u32
    }

    fn drive(&mut self, n: u64) -> Option<Made> {
        let pairs = &self.table.pairs;
        let aim = self.draw.weighted(pairs.iter().map(promise))?;
        let tries = pairs[aim].tries;
        let mut aims = vec![aim as PairId];
        if tries < 2 {
            let mut plan = Plan::tail(self.tail(n));
            if self.draw.below(10) < 5 {
                plan.tail = Tail::RunUntilBlocked;
            }
            let constraint = self.constraint(aims[0], Rule::After, tries > 0);
            plan.constraints.push(constraint);
            return Some(Made::of(plan, aims));
        }
        while aims.len() < 4 && self.draw.chance(1, 3) {
            aims.extend(self.any_pair());
        }
        Some(Made::of(self.constrained(n, &aims), vec![aim as PairId]))
    }

    fn combine(&mut self, n: u64) -> Option<Made> {
        let mut aims = vec![self.any_pair()?];
        while aims.len() < 2 || (aims.len() < 6 && self.draw.chance(1, 2)) {
            aims.extend(self.any_pair());
        }
        Some(Made::of(self.constrained(n, &aims), aims))
    }

    /// Promising pairs more often.
    fn any_pair(&mut self) -> Option<PairId> {
        let weight = |p: &Pair| 4 + 8 * p.gains.min(8) / (1 + p.tries / 4);
        let pairs = &self.table.pairs;
        let chosen = self.draw.weighted(pairs.iter().map(weight))?;
        Some(chosen as PairId)
    }

    fn constrained(&mut self, n: u64, aims: &[PairId]) -> Plan {
        let mut plan = Plan::tail(self.tail(n));
        for &aim in aims {
            let rule = match self.draw.below(8) {
                0 => Rule::RightAfter,
                1 => Rule::NotRightAfter,
                _ => Rule::After,
            };
            let constraint = self.constraint(aim, rule, true);
            plan.constraints.push(constraint);
        }
        plan
    }

    fn constraint(&mut self, aim: PairId, rule: Rule, narrow: bool) -> Constraint {
        let pair = self.table.pairs[aim as usize];
        let [mut first, mut then] = [pair.first, pair.then].map(|s| self.point(s));
        if pair.first == pair.then || (narrow && self.draw.chance(1, 3)) {
            first.thread = pair.first_example.thread;
            then.thread = pair.then_example.thread;
        }
        Constraint::new(rule, first, then, self.patience())
    }

    fn point(&self, statement: u32) -> Point {
        let s = &self.table.statements[statement as usize];
        Point {
            pc: s.pc,
            kind: s.kind,
            object: s.object,
            ..Point::ANY
        }
    }

    fn tail(&mut self, n: u64) -> Tail {
        let seed = seed_of(self.seed, n);
        match self.draw.below(10) {
            0..3 => Tail::RunUntilBlocked,
            3..6 => Tail::Pct {
                seed,
                depth: 1,
                steps: 1,
            },
            6..8 => Tail::Random { seed },
            _ => Tail::Pos { seed },
        }
    }

    fn take_turns(&mut self, n: u64) -> Option<Made> {
        let repeats = |p: &Pair| {
            let of = |s: u32| self.table.statements[s as usize].repeats;
            u32::from(of(p.first) && of(p.then))
        };
        let one = self.draw.weighted(self.table.pairs.iter().map(repeats))?;
        let there = self.table.pairs[one];
        let back = |p: &Pair| {
            let opposite = p.first_example.thread == there.then_example.thread
                && p.then_example.thread == there.first_example.thread;
            u32::from(opposite) * repeats(p)
        };
        let other = self.draw.weighted(self.table.pairs.iter().map(back))?;
        let mut plan = Plan::tail(self.tail(n));
        let begins = self.draw.below(2);
        for (i, aim) in [one, other].into_iter().enumerate() {
            let pair = self.table.pairs[aim];
            let [mut first, mut then] = [pair.first, pair.then].map(|s| self.point(s));
            first.thread = pair.first_example.thread;
            then.thread = pair.then_example.thread;
            plan.constraints.push(Constraint {
                credit: u32::from(i == begins),
                ..Constraint::new(Rule::InTurn, first, then, self.patience())
            });
        }
        Some(Made::of(plan, vec![one as PairId, other as PairId]))
    }

    /// A step that was never taken.
    fn step(&mut self, n: u64) -> Option<Made> {
        let prefix = self.states.missing(&mut self.draw)?;
        let seed = seed_of(self.seed, n);
        let tail = match self.draw.below(4) {
            0 => Tail::RunUntilBlocked,
            1 => Tail::Pct {
                seed,
                depth: MIX_DEPTH,
                steps: self.longest,
            },
            _ => Tail::Random { seed },
        };
        // The thread may be blocked in that state.
        Some(Made::of(tolerant(prefix, tail), Vec::new()))
    }

    /// A delay that was not tried, or was tried less than others.
    fn delay(&mut self, n: u64, way: Way) -> Option<Made> {
        let patience = self.patience();
        let Detour {
            prefix,
            constraint,
            depth,
        } = match way {
            Way::Fresh => self.pool.fresh(&mut self.draw, patience)?,
            _ => {
                let shallow = way == Way::Shallow;
                self.pool.any(&mut self.draw, patience, shallow)?
            }
        };
        let tail = match self.draw.chance(1, 10) {
            true => self.tail(n),
            false => Tail::RunUntilBlocked,
        };
        let plan = Plan {
            prefix,
            constraints: vec![constraint],
            ..Plan::tail(tail)
        };
        Some(Made {
            plan,
            aims: Vec::new(),
            depth,
        })
    }
}

/// The weight of a pair that is untested and was never driven to.
const FRESH: u32 = 60;

/// How much it is worth driving to a pair. What came about by chance, or in one try, may still be
/// worth it in company with something else.
fn promise(pair: &Pair) -> u32 {
    let weights = match pair.seen > 0 || pair.known {
        false => [FRESH, 24, 12, 8, 4, 2],
        true => [6, 3, 2, 1, 1, 1],
    };
    weights[(pair.tries as usize).min(5)]
}
