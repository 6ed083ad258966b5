//! Bounds of what reads return.
//!
//! A read returns what was there at first or what a write put there before it, and that write's
//! value depends on reads before it: along such a chain time goes back, so no place occurs twice.
//! It is followed how far each thread had come at most when the value was written. Bounds follow
//! from the formula, which cannot have more models with them than without; but the solver need not
//! look at bits that no value uses. Measured in seconds of processor time on the question that
//! decides Fibonacci with 6 additions: 1.4 without them, 0.3 with them; with them 8 and 10
//! additions take 1 and 11.
//!
//! They are for two threads that build on each other's values. Where one thread builds on what is
//! overwritten by many, the formula is left as it is: on figure 2 with 9 more threads bounds saved
//! 6 executions of 15 and cost the solver 2.5 times as long.

use super::counters::{self, Location, initial};
use super::forest::{Forest, NodeId, TreeId};
use super::intervals::{Interval, apply};
use super::kinds::is_access;
use super::order::Order;
use super::places::Place;
use super::terms::{Term, TermId, Terms};
use crate::stop;
use raddle_protocol::event::Kind;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Terms that are looked at, at most: then nothing is said of what reads return.
const LIMIT: usize = 300_000;
/// How long a chain can be, counted in reads, before nothing is said.
const DEPTH: u32 = 1_000;

/// What is behind a read that lies so far back in a chain.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Context {
    /// Of the threads of [`Flow::chained`]: steps that the thread has taken at most.
    steps: [u32; 2],
}

struct Flow<'f> {
    forest: &'f Forest,
    order: &'f Order,
    reads: BTreeMap<(Place, u8), Vec<NodeId>>,
    writes: BTreeMap<Location, Vec<NodeId>>,
    /// Locations that are not always accessed as a whole.
    irregular: BTreeSet<Location>,
    /// The threads that write where something is written that depends on reads.
    chained: Vec<TreeId>,
    dependent: Vec<bool>,
    known: HashMap<(Place, u8, Context), Option<Interval>>,
    looked: usize,
    depth: u32,
    /// It is too much, and what is known is not to be used.
    gave_up: bool,
}

/// Bounds of what each read returns, by place and bits, where they say something.
pub fn bounds(forest: &Forest, order: &Order) -> Vec<(Place, u8, Interval)> {
    let mut flow = Flow::new(forest, order);
    if flow.chained.len() != 2 {
        return Vec::new();
    }
    let start = Context {
        steps: [u32::MAX; 2],
    };
    let reads: Vec<(Place, u8)> = flow.reads.keys().copied().collect();
    let mut bounds = Vec::new();
    for (place, width) in reads {
        let found = flow.read(place, width, start);
        if flow.gave_up {
            return Vec::new();
        }
        bounds.extend(
            found
                .filter(|found| *found != Interval::full(width))
                .map(|found| (place, width, found)),
        );
    }
    bounds
}

/// Which terms contain reads.
fn dependent(terms: &Terms) -> Vec<bool> {
    let mut dependent: Vec<bool> = Vec::new();
    for id in 0..terms.len() as TermId {
        let reads = match terms.get(id) {
            Term::Const { .. } | Term::Input { .. } => false,
            Term::Read { .. } => true,
            Term::Op { op, args, .. } => {
                let mut args = args[..op.arity()].iter();
                args.any(|&a| dependent[a as usize])
            }
        };
        dependent.push(reads);
    }
    dependent
}

impl<'f> Flow<'f> {
    fn new(forest: &'f Forest, order: &'f Order) -> Flow<'f> {
        let mut flow = Flow {
            forest,
            order,
            reads: BTreeMap::new(),
            writes: BTreeMap::new(),
            irregular: BTreeSet::new(),
            chained: Vec::new(),
            dependent: dependent(&forest.terms),
            known: HashMap::new(),
            looked: 0,
            depth: 0,
            gave_up: false,
        };
        let mut locations = BTreeSet::new();
        for (id, node) in (0..).zip(&forest.nodes) {
            let accessed = node
                .action()
                .filter(|a| is_access(a.kind) && !node.is_stub());
            let Some(action) = accessed else { continue };
            let location = (action.object, action.size);
            locations.insert(location);
            if !matches!(action.kind, Kind::Write | Kind::AtomicWrite) {
                let read = (forest.place(id), 8 * action.size);
                flow.reads.entry(read).or_default().push(id);
            }
            if !matches!(action.kind, Kind::Read | Kind::AtomicRead) {
                flow.writes.entry(location).or_default().push(id);
            }
        }
        flow.irregular = counters::irregular(locations.into_iter());
        let chains = flow.writes.values();
        let chains = chains.filter(|w| w.iter().any(|&id| flow.depends(id)));
        let trees: BTreeSet<TreeId> = chains.flatten().map(|&w| forest.node(w).tree).collect();
        flow.chained = trees.into_iter().collect();
        flow
    }

    fn depends(&self, write: NodeId) -> bool {
        let term = self.forest.node(write).action().and_then(|a| a.term);
        term.is_none_or(|term| self.dependent[term as usize])
    }

    /// Bounds of what the read returns; `None`: it cannot happen.
    fn read(&mut self, place: Place, width: u8, mut context: Context) -> Option<Interval> {
        let thread = self.chained.iter().position(|t| *t == place.tree);
        if let Some(thread) = thread {
            let steps = &mut context.steps[thread];
            *steps = place.step.min(*steps);
        }
        let key = (place, width, context);
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let Some(nodes) = self.reads.get(&(place, width)).cloned() else {
            return Some(Interval::full(width));
        };
        self.gave_up |= self.looked > LIMIT || self.depth > DEPTH;
        self.depth += 1;
        let mut found: Option<Interval> = None;
        for node in nodes {
            let sources = self.sources(node, width, context);
            found = found.into_iter().chain(sources).reduce(Interval::join);
        }
        self.depth -= 1;
        self.known.insert(key, found);
        found
    }

    fn sources(&mut self, read: NodeId, width: u8, context: Context) -> Option<Interval> {
        let forest = self.forest;
        let Some(action) = forest.node(read).action() else {
            return Some(Interval::full(width));
        };
        let location = (action.object, action.size);
        if self.irregular.contains(&location) {
            return Some(Interval::full(width));
        }
        let writes = self.writes.get(&location).cloned().unwrap_or_default();
        let own = self.own(read, &writes);
        let place = forest.place(read);
        let mut found = match own {
            None => Some(initial(forest, location).unwrap_or(Interval::full(width))),
            Some(_) => None,
        };
        for write in writes {
            stop::point();
            self.looked += 1;
            let source = forest.place(write);
            let hidden = |own: NodeId| self.order.before(source, forest.place(own));
            let other = source.tree != place.tree && forest.coexist(source.tree, place.tree);
            if Some(write) == own
                || other && !self.order.before(place, source) && !own.is_some_and(hidden)
            {
                let value = self.write(write, context);
                found = found.into_iter().chain(value).reduce(Interval::join);
            }
        }
        found
    }

    /// The last write before the read in every execution that has it.
    fn own(&self, read: NodeId, writes: &[NodeId]) -> Option<NodeId> {
        let above = |at: &NodeId| {
            let tree = self.forest.node(*at).tree;
            let step = self.forest.step_above(*at);
            step.or(self.forest.tree(tree).create)
        };
        let mut before = std::iter::successors(above(&read), above);
        before.find(|at| {
            stop::point();
            writes.binary_search(at).is_ok()
        })
    }

    /// Bounds of what the write has written when others had come as far as `context` says.
    fn write(&mut self, write: NodeId, mut context: Context) -> Option<Interval> {
        let action = self.forest.node(write).action()?;
        let place = self.forest.place(write);
        let width = 8 * action.size;
        let Some(term) = action.term else {
            return Some(Interval::full(width));
        };
        if !self.dependent[term as usize] {
            return self.value(term, context);
        }
        let Some(thread) = self.chained.iter().position(|t| *t == place.tree) else {
            return Some(Interval::full(width));
        };
        if place.step >= context.steps[thread] {
            return None;
        }
        context.steps[thread] = place.step;
        self.value(term, context)
    }

    fn value(&mut self, id: TermId, context: Context) -> Option<Interval> {
        let forest = self.forest;
        self.looked += 1;
        match forest.terms.get(id) {
            term if self.gave_up => Some(Interval::full(term.width())),
            Term::Const { width, value } => Some(Interval::one(value, width)),
            Term::Input { width, .. } => Some(Interval::full(width)),
            Term::Read { place, width } => self.read(place, width, context),
            Term::Op {
                op,
                width,
                extra,
                args,
            } => {
                let args = &args[..op.arity()];
                let widths: Vec<u8> = args.iter().map(|&a| forest.terms.get(a).width()).collect();
                let args: Option<Vec<Interval>> =
                    args.iter().map(|&a| self.value(a, context)).collect();
                Some(apply(op, width, extra, &args?, &widths))
            }
        }
    }
}
