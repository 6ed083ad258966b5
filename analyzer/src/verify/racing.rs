//! Data races that are reachable: two threads that stand at accesses of the same memory, of which one
//! writes and one is not atomic, so that nothing keeps the two in order.
//!
//! With sequentially consistent synchronisation a program has a data race in the sense of C11 if and
//! only if it has an execution in which two such accesses come directly one after the other (Boehm
//! and Adve, Foundations of the C++ Concurrency Memory Model, PLDI 2008, section 4). Where atomic
//! operations of weaker orders hide more, the executions are looked at by vector clocks
//! ([`crate::races`]), as all executions are. Pairs of statements that an execution has shown are
//! not asked for again.

use super::circuit::{Bool, all, any};
use super::forest::{NodeId, TreeId};
use super::formula::Formula;
use super::kinds::is_access;
use super::plan::{Found, Plan, follow};
use super::sat::{Model, holds};
use super::solver::{Answer, Effort, Limits};
use crate::races::{self, Race};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::expr::Why;
use raddle_protocol::job::push_step;
use std::collections::{BTreeMap, HashSet};

/// Two statements by their addresses, the lower one first.
pub type Pair = (u64, u64);

/// The races that are known.
#[derive(Debug, Default)]
pub struct Races {
    /// Executions have shown them.
    shown: HashSet<Pair>,
    /// Executions were made to show them.
    asked: HashSet<Pair>,
    /// An execution was not looked at, since memory was changed by code that is not seen.
    pub left_out: bool,
}

/// Why races are not looked for in some programs.
pub const INITIALISERS: &str = "races were not looked for: static objects of C++ that initialise \
                                themselves at their first use, in code that is not followed, order \
                                threads in a way that is not seen";
/// Why races are not looked for in some executions.
pub const UNSEEN: &str = "races were not looked for in executions in which code that is not seen \
                          changed memory";

impl Races {
    /// The races of an execution that none before it has shown. Where memory was changed by code
    /// that is not seen, what that orders would pass for races: then none.
    pub fn learn(&mut self, events: &[Event]) -> impl Iterator<Item = Race> {
        let unseen = |e: &Event| e.kind == Kind::Lost as u8 && e.size == Why::Memory as u8;
        let is_left_out = events.iter().any(unseen);
        self.left_out |= is_left_out;
        let new = match is_left_out {
            true => Vec::new(),
            false => races::distinct(events),
        };
        let new = new.into_iter();
        new.filter(|race| self.shown.insert(race.key()))
    }

    fn knows(&self, pair: &Pair) -> bool {
        self.shown.contains(pair) || self.asked.contains(pair)
    }
}

/// Accesses that differ in nothing but the local path that leads to them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Group {
    address: u64,
    size: u8,
    tree: TreeId,
    pc: u64,
    write: bool,
    atomic: bool,
}

impl Group {
    fn conflicts(&self, other: &Group) -> bool {
        let overlaps = self.address < other.address + u64::from(other.size)
            && other.address < self.address + u64::from(self.size);
        let one_writes = self.write || other.write;
        let one_is_plain = !(self.atomic && other.atomic);
        self.tree != other.tree && overlaps && one_writes && one_is_plain
    }

    fn pair(&self, other: &Group) -> Pair {
        (self.pc.min(other.pc), self.pc.max(other.pc))
    }
}

/// Two groups of which threads can stand at one access each.
struct Candidate<'g> {
    sides: [(&'g Group, &'g [NodeId]); 2],
    condition: Bool,
}

/// Looks for a job in which two accesses that race come one after the other, between two statements
/// of which no race is known.
pub fn query(
    formula: &Formula<'_>,
    known: &mut Races,
    limits: Limits<'_>,
    effort: &mut Effort,
) -> Found<()> {
    let groups = groups(formula);
    let candidates = candidates(formula, &groups, known);
    if candidates.is_empty() {
        return Found::No;
    }
    let conditions: Vec<Bool> = candidates.iter().map(|c| c.condition.clone()).collect();
    formula.solver.push();
    formula.exclude_idle_rounds();
    formula.solver.assert(&any(&conditions));
    let answer = formula.check(limits, effort);
    formula.solver.pop();
    let model = match answer {
        Answer::Sat(model) => model,
        Answer::Unsat => return Found::No,
        Answer::Unknown => return Found::Unknown,
    };
    let found = candidates.iter().find(|c| holds(&model, &c.condition));
    let Some(Candidate { sides: [a, b], .. }) = found else {
        return Found::No;
    };
    known.asked.insert(a.0.pair(b.0));
    Found::Yes(plan(formula, &model, [a.1, b.1]), ())
}

fn groups(formula: &Formula<'_>) -> BTreeMap<Group, Vec<NodeId>> {
    let mut groups: BTreeMap<Group, Vec<NodeId>> = BTreeMap::new();
    for (id, node) in (0..).zip(&formula.forest.nodes) {
        if let Some(action) = node.action()
            && is_access(action.kind)
        {
            let group = Group {
                address: action.object,
                size: action.size,
                tree: node.tree,
                pc: node.pc,
                write: !matches!(action.kind, Kind::Read | Kind::AtomicRead),
                atomic: !matches!(action.kind, Kind::Read | Kind::Write),
            };
            groups.entry(group).or_default().push(id);
        }
    }
    groups
}

fn candidates<'g>(
    formula: &Formula<'_>,
    groups: &'g BTreeMap<Group, Vec<NodeId>>,
    known: &Races,
) -> Vec<Candidate<'g>> {
    let stands = |nodes: &[NodeId]| {
        let nodes: Vec<Bool> = nodes.iter().map(|&n| formula.waits_at(n)).collect();
        any(&nodes)
    };
    let all_groups: Vec<_> = groups.iter().collect();
    let mut candidates = Vec::new();
    for (i, &(a, some)) in all_groups.iter().enumerate() {
        // They are in the order of their addresses.
        let near = all_groups[i + 1..].iter();
        let near = near.take_while(|b| b.0.address < a.address + u64::from(a.size));
        for &(b, others) in near {
            if a.conflicts(b) && formula.coexist(a.tree, b.tree) && !known.knows(&a.pair(b)) {
                candidates.push(Candidate {
                    sides: [(a, some), (b, others)],
                    condition: all(&[stands(some), stands(others)]),
                });
            }
        }
    }
    candidates
}

/// The steps of the model, then one access of each side.
fn plan(formula: &Formula<'_>, model: &Model, sides: [&[NodeId]; 2]) -> Plan {
    let steps = formula.sequence(model);
    let mut plan = follow(formula, model, &steps);
    for side in sides {
        let here = side.iter().find(|&&n| holds(model, &formula.waits_at(n)));
        if let Some(&node) = here {
            let tree = formula.forest.node(node).tree;
            push_step(&mut plan.prefix, formula.forest.tree(tree).slot);
        }
    }
    plan
}
