//! Dynamic partial order reduction: one execution of each Mazurkiewicz trace instead of all
//! interleavings.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, POPL 2014,
//! and its extended version in JACM 64(4), 2017. What does not commute is said by
//! [`raddle_protocol::conflict`].

mod awaited;
mod baseline;
mod elsewhere;
mod enabled;
mod execution;
mod races;
mod touched;
mod tree;

pub use execution::{Execution, Step};
pub use races::Race;

use crate::bounds::Bound;
use crate::inuse;
use crate::search::{Next, Plan, Search, Standing};
use crate::words::{Row, put_list, put_text};
use baseline::Alternatives;
use races::{Item, Last, Rest, Reversal, reversals};
use raddle_protocol::conflict::{Footprint, MOST_SLEEPERS};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{CHOICE_BIT, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use std::collections::{BTreeSet, HashMap};
use tree::{Leaf, Ran, Tree};

/// Records that exhaustive searches learn from.
pub const RECORDS: u32 = flags::EVENTS | flags::ENABLED | flags::EXHAUSTIVE;

/// How it is said what to try where a race is to be turned round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Wakeup trees: never an execution that is equivalent to another one, or has to be given up.
    Optimal,
    /// Source sets and sleep sets: no two equivalent executions, but some are given up on the way.
    Source,
    /// Every thread that could go on, within a bound: no two executions are taken for equivalent.
    Baseline(Bound),
}

impl Algorithm {
    fn rest(self) -> Rest {
        match self {
            Algorithm::Optimal => Rest::All,
            Algorithm::Source => Rest::Before,
            Algorithm::Baseline(_) => Rest::Nothing,
        }
    }

    fn tree(self) -> Tree {
        Tree::new(self != Algorithm::Optimal)
    }
}

/// Says which races are worth turning round.
pub trait Guide {
    /// Learns of an execution before its races are looked at.
    fn read(&mut self, trace: &Trace, execution: &Execution);

    /// Is this race of the execution that was read last to be turned round?
    fn wants(&mut self, race: Race) -> bool;
}

/// All races are.
struct Everything;

impl Guide for Everything {
    fn read(&mut self, _: &Trace, _: &Execution) {}

    fn wants(&mut self, _: Race) -> bool {
        true
    }
}

/// See the module.
#[derive(Debug)]
pub struct Dpor {
    algorithm: Algorithm,
    tree: Tree,
    /// Executions under way: where they were started.
    out: HashMap<u64, Out>,
    /// Do operations that move the clock conflict? From the moment when one execution looks at it.
    clock: bool,
    /// How often the search was started anew.
    generation: u32,
    classes: u64,
    redundant: u64,
    mismatches: u64,
    bounds: BTreeSet<String>,
}

#[derive(Debug)]
struct Out {
    generation: u32,
    leaf: Leaf,
}

impl Dpor {
    /// Nothing is explored yet.
    pub fn new(algorithm: Algorithm) -> Dpor {
        Dpor {
            algorithm,
            tree: algorithm.tree(),
            out: HashMap::new(),
            clock: false,
            generation: 0,
            classes: 0,
            redundant: 0,
            mismatches: 0,
            bounds: BTreeSet::new(),
        }
    }

    /// Executions that were given up because all that could follow is part of another one.
    pub fn redundant(&self) -> u64 {
        self.redundant
    }

    /// Forgets all that was explored.
    fn begin_again(&mut self) {
        self.generation += 1;
        self.tree = self.algorithm.tree();
        self.classes = 0;
    }

    /// [`Search::observe`], but only those races are turned round that the guide wants.
    pub fn observe_guided(&mut self, n: u64, trace: &Trace, guide: &mut dyn Guide) {
        if let Some(out) = self.out.remove(&n)
            && out.generation == self.generation
        {
            self.learn(&out, trace, guide);
        }
    }

    fn learn(&mut self, out: &Out, trace: &Trace, guide: &mut dyn Guide) {
        let beginning = beginning(trace, out.leaf.from);
        let trace = beginning.as_ref().unwrap_or(trace);
        let mut execution = Execution::new(trace, self.clock);
        if execution.looks && !self.clock {
            self.clock = true;
            if out.leaf.node != tree::ROOT || self.generation > 0 {
                return self.begin_again();
            }
            execution = Execution::new(trace, true);
        }
        let items = execution.steps.iter().map(Item::of);
        let items: Vec<Item> = match self.algorithm {
            Algorithm::Baseline(_) => items.map(Item::opaque).collect(),
            Algorithm::Optimal | Algorithm::Source => items.collect(),
        };
        let Ran { nodes, astray } = self.tree.ran(out.leaf.node, &items);
        match trace.outcome.end {
            _ if astray => self.mismatches += u64::from(!out.leaf.tentative),
            End::Redundant => self.redundant += 1,
            _ => self.classes += 1,
        }
        if !astray {
            self.bounds.extend(bound(trace));
            if execution.writes_what_is_in_use() {
                self.bounds.insert(inuse::WRITTEN.into());
            }
        }
        guide.read(trace, &execution);
        let mut wanted = |race| guide.wants(race);
        let rest = self.algorithm.rest();
        // See the documentation of `tree`: why those of the steps before are looked at again.
        let from = match self.algorithm {
            Algorithm::Optimal => 0,
            Algorithm::Source | Algorithm::Baseline(_) => out.leaf.from,
        };
        let mut found = reversals(&execution, from, rest, &mut wanted);
        found.retain(|reversal| reversal.at < nodes.len());
        self.turn_round(found, trace, &nodes);
        let last = if astray { None } else { nodes.last() };
        self.tree.finish(last.copied().unwrap_or(out.leaf.node));
    }

    /// Adds to the tree what turns round the races of an execution that went by these nodes.
    fn turn_round(&mut self, found: Vec<Reversal>, trace: &Trace, nodes: &[usize]) {
        let alternatives = match self.algorithm {
            Algorithm::Baseline(bound) => Some(Alternatives::of(trace, bound)),
            Algorithm::Optimal | Algorithm::Source => None,
        };
        for reversal in found {
            let node = nodes[reversal.at];
            match &alternatives {
                Some(alternatives) if !reversal.is_choice() => {
                    for item in alternatives.at(reversal.at) {
                        self.tree.insert(node, vec![item], Last::Possible);
                    }
                }
                _ => self.tree.insert(node, reversal.sequence, reversal.last),
            }
        }
    }
}

/// Steps beyond those of its prefix that are looked at of an execution that reached the step limit:
/// what has no end has many steps on few objects, and takes the square of their number.
const FOLLOWED: usize = 2_000;

/// What is looked at of an execution that reached the step limit, if not all.
fn beginning(trace: &Trace, from: usize) -> Option<Trace> {
    let is_step = |e: &Event| e.kind().is_some_and(Kind::is_step);
    if trace.outcome.end != End::StepLimit {
        return None;
    }
    let (end, _) = (trace.events.iter().enumerate())
        .filter(|(_, event)| is_step(event))
        .nth(from.saturating_add(FOLLOWED))?;
    let events = trace.events[..end].to_vec();
    Some(Trace::new(
        events,
        trace.taken.clone(),
        trace.outcome.clone(),
    ))
}

/// What an execution leaves unsaid.
fn bound(trace: &Trace) -> Option<String> {
    let end = trace.outcome.end;
    if end == End::StepLimit {
        return Some("executions that reached the step limit were not followed further".into());
    }
    if trace.outcome.timed_out {
        return Some("executions that took too long were not followed further".into());
    }
    let parked = |e: &Event| e.kind() == Some(Kind::PassedOver);
    let text = "a loop that changes nothing was not run as often as it could be";
    trace.events.iter().any(parked).then(|| text.to_string())
}

impl Search for Dpor {
    fn next(&mut self, n: u64) -> Next {
        let mut plan = Plan {
            flags: RECORDS,
            ..Plan::tail(Tail::RunUntilBlocked)
        };
        let Some(start) = self.tree.start() else {
            return match self.out.is_empty() {
                true => Next::Done,
                false => Next::Wait,
            };
        };
        for item in &start.way {
            push_step(&mut plan.prefix, item.thread);
            for pick in &item.picks {
                push_step(&mut plan.prefix, pick | CHOICE_BIT);
            }
        }
        plan.sleepers = sleepers(&start.sleep);
        if start.leaf.tentative {
            plan.flags |= flags::TOLERANT;
        }
        let out = Out {
            generation: self.generation,
            leaf: start.leaf,
        };
        if !self.out.is_empty() {
            self.tree.cover_less();
        }
        self.out.insert(n, out);
        Next::Run(plan)
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        self.observe_guided(n, trace, &mut Everything);
    }

    fn lost(&mut self, n: u64) {
        if let Some(out) = self.out.remove(&n)
            && out.generation == self.generation
        {
            self.tree.lost(out.leaf);
        }
    }

    fn standing(&self) -> Standing {
        let mut notes = Vec::new();
        if self.redundant > 0 {
            notes.push(format!(
                "{} executions were given up: what would follow is part of others",
                self.redundant
            ));
        }
        if self.clock {
            notes
                .push("the clock is read: steps that move it are told apart by their order".into());
        }
        Standing {
            complete: self.tree.finished(),
            classes: match self.algorithm {
                Algorithm::Optimal | Algorithm::Source => Some(self.classes),
                Algorithm::Baseline(_) => None,
            },
            mismatches: self.mismatches,
            bounds: self.bounds.iter().cloned().collect(),
            notes,
        }
    }

    /// A flag, three numbers, the bounds as texts, and the tree.
    fn save(&self) -> Option<Vec<u64>> {
        let mut under_way: Vec<(&u64, &Out)> = self.out.iter().collect();
        under_way.sort_unstable_by_key(|&(&n, _)| std::cmp::Reverse(n));
        let leaves: Vec<Leaf> = under_way
            .iter()
            .filter(|(_, out)| out.generation == self.generation)
            .map(|(_, out)| out.leaf)
            .collect();
        let counts = [self.classes, self.redundant, self.mismatches];
        let mut saved = [&[u64::from(self.clock)], &counts[..]].concat();
        let bounds: Vec<&String> = self.bounds.iter().collect();
        put_list(&mut saved, &bounds, |row, text| put_text(row, text));
        saved.append(&mut self.tree.save(&leaves));
        Some(saved)
    }

    fn restore(&mut self, saved: &[u64]) -> bool {
        let restored = Dpor::of_saved(self.algorithm, &mut Row(saved));
        let sensible = restored.is_some();
        if let Some(restored) = restored {
            *self = restored;
        }
        sensible
    }
}

impl Dpor {
    fn of_saved(algorithm: Algorithm, row: &mut Row<'_>) -> Option<Dpor> {
        let mut dpor = Dpor {
            clock: row.flag()?,
            classes: row.number()?,
            redundant: row.number()?,
            mismatches: row.number()?,
            bounds: row.list(Row::text)?.into_iter().collect(),
            ..Dpor::new(algorithm)
        };
        dpor.tree = Tree::restore(algorithm != Algorithm::Optimal, row)?;
        row.is_empty().then_some(dpor)
    }
}

/// Which threads sleep: those of whose next step all outcomes were explored.
fn sleepers(asleep: &[Item]) -> Vec<Footprint> {
    let all = |item: &Item| {
        let outcomes = asleep.iter().filter(|other| other.thread == item.thread);
        item.picks.is_empty() || outcomes.count() >= usize::from(item.outcomes)
    };
    let whole = asleep.iter().filter(|item| all(item)).map(|item| item.foot);
    whole.take(MOST_SLEEPERS).collect()
}
