//! Dynamic partial order reduction: one execution of each Mazurkiewicz trace instead of all
//! interleavings.
//!
//! Source: Abdulla, Aronis, Jonsson, Sagonas: Optimal Dynamic Partial Order Reduction, POPL 2014,
//! and its extended version in JACM 64(4), 2017. What does not commute is said by
//! [`raddle_protocol::conflict`].

mod enabled;
mod execution;
mod races;
mod tree;

pub use execution::Execution;

use crate::search::{Next, Plan, Search, Standing};
use races::{Item, reversals};
use raddle_protocol::conflict::{Footprint, MOST_SLEEPERS};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::job::push_step;
use raddle_protocol::outcome::End;
use raddle_protocol::schedule::{CHOICE_BIT, Tail};
use raddle_protocol::shared::flags;
use raddle_protocol::trace::Trace;
use std::collections::{BTreeSet, HashMap};
use tree::Tree;

/// Records that exhaustive searches learn from.
pub const RECORDS: u32 = flags::EVENTS | flags::ENABLED | flags::EXHAUSTIVE;

/// Which of the two algorithms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Wakeup trees: never an execution that is equivalent to another one, or has to be given up.
    Optimal,
    /// Source sets and sleep sets: no two equivalent executions, but some are given up on the way.
    Source,
}

/// See the module.
#[derive(Debug)]
pub struct Dpor {
    algorithm: Algorithm,
    tree: Tree,
    first: bool,
    /// Executions under way: where they were started.
    out: HashMap<u64, Out>,
    /// Do operations that move the clock conflict? From the moment when one execution looks at it.
    clock: bool,
    /// How often the search was started anew.
    generation: u32,
    classes: u64,
    redundant: u64,
    mismatches: u64,
    lost: bool,
    bounds: BTreeSet<String>,
}

#[derive(Debug)]
struct Out {
    generation: u32,
    leaf: usize,
    tentative: bool,
    /// Steps that were told.
    told: usize,
}

impl Dpor {
    /// Nothing is explored yet.
    pub fn new(algorithm: Algorithm) -> Dpor {
        Dpor {
            algorithm,
            tree: Tree::new(algorithm == Algorithm::Source),
            first: true,
            out: HashMap::new(),
            clock: false,
            generation: 0,
            classes: 0,
            redundant: 0,
            mismatches: 0,
            lost: false,
            bounds: BTreeSet::new(),
        }
    }

    /// Executions that were given up because all that could follow is part of another one.
    pub fn redundant(&self) -> u64 {
        self.redundant
    }

    /// Begins again: operations that move the clock conflict from now on.
    fn begin_again(&mut self) {
        self.clock = true;
        self.generation += 1;
        self.tree = Tree::new(self.algorithm == Algorithm::Source);
        (self.first, self.classes) = (true, 0);
    }

    fn learn(&mut self, out: &Out, trace: &Trace) {
        let mut execution = Execution::new(trace, self.clock);
        if execution.looks && !self.clock {
            if out.told > 0 || self.generation > 0 {
                return self.begin_again();
            }
            self.clock = true;
            execution = Execution::new(trace, true);
        }
        let items: Vec<Item> = execution.steps.iter().map(Item::of).collect();
        let Some(nodes) = self.tree.ran(out.leaf, &items) else {
            self.mismatches += u64::from(!out.tentative);
            return self.tree.finish(out.leaf);
        };
        match trace.outcome.end {
            End::Redundant => self.redundant += 1,
            _ => self.classes += 1,
        }
        if let Some(bound) = bound(trace) {
            self.bounds.insert(bound);
        }
        // The races before the last step that was told were there in an earlier execution already.
        let from = out.told.saturating_sub(1);
        let short = self.algorithm == Algorithm::Source;
        for reversal in reversals(&execution, from, short) {
            let node = nodes[reversal.at];
            self.tree
                .insert(node, reversal.sequence, reversal.tentative);
        }
        let last = nodes.last().copied().unwrap_or_default();
        self.tree.finish(last);
    }
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
        let mut out = Out {
            generation: self.generation,
            leaf: 0,
            tentative: false,
            told: 0,
        };
        if !std::mem::take(&mut self.first) {
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
            if start.tentative {
                plan.flags |= flags::TOLERANT;
            }
            (out.leaf, out.tentative, out.told) = (start.leaf, start.tentative, start.way.len());
        }
        self.out.insert(n, out);
        Next::Run(plan)
    }

    fn observe(&mut self, n: u64, trace: &Trace) {
        if let Some(out) = self.out.remove(&n)
            && out.generation == self.generation
        {
            self.learn(&out, trace);
        }
    }

    fn lost(&mut self, n: u64) {
        self.lost = true;
        self.out.remove(&n);
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
            complete: self.tree.finished() && !self.lost,
            classes: Some(self.classes),
            mismatches: self.mismatches,
            bounds: self.bounds.iter().cloned().collect(),
            notes,
        }
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
