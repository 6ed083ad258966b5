//! Bounds of what reads return of locations that threads count in.
//!
//! Where every write of a location puts there a value of known bounds, or what its thread has read
//! there plus something of known bounds, a read returns at most the largest value that was put
//! there, plus what the writes before it can add: each of them adds once, for what is read comes
//! from a write, that one's value from a read before it, and so on, back in time. That follows from
//! the formula, but the solver would have to try all orders of the writes to find it out. With these
//! bounds figure 9 with 6 passes takes 1.2 s of processor time instead of 3.9.
//!
//! Where more than two threads add, the formula has such a chain of writes for each read, each one
//! before the read of the next: figure 2 with 20 more threads, of which all must add one after the
//! other, then takes 1.5 s, and without chains more than a minute.

use super::circuit::{Bool, all, any};
use super::forest::{Forest, NodeId, TreeId};
use super::formula::{Formula, read_value};
use super::intervals::{Interval, apply};
use super::kinds::is_access;
use super::locks::Locks;
use super::order::Order;
use super::places::Place;
use super::terms::{Term, TermId};
use super::vectors::constant;
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Address and bytes of an access.
pub type Location = (u64, u8);

/// Nodes times counters that are looked at, at most.
const LIMIT: usize = 10_000_000;
/// Operations within each other that are looked at.
const DEPTH: u32 = 100;
/// Gates that count writes, at most.
const GATES: usize = 100_000;

/// What is written: a value of its own, or so much more than what was read.
#[derive(Clone, Copy, Default)]
struct Shape {
    value: Option<Interval>,
    more: Option<More>,
}

/// How much more than what was read, as far as the bits of the location show it, and where that was
/// at the latest.
#[derive(Clone, Copy)]
struct More {
    by: Interval,
    read: Place,
}

impl More {
    fn join(self, other: More) -> More {
        More {
            by: self.by.join(other.by),
            read: self.read.max(other.read),
        }
    }

    fn plus(self, by: Interval) -> More {
        More {
            by: sum(self.by, by),
            ..self
        }
    }
}

/// A location that threads count in.
pub struct Counter {
    pub location: Location,
    /// Bounds of what is there at first or is put there.
    base: Interval,
    /// What is there at first.
    initial: Interval,
    /// What each write puts there.
    writes: BTreeMap<NodeId, Shape>,
    reads: Vec<NodeId>,
}

/// Accesses of a location.
#[derive(Default)]
pub struct Accesses {
    pub reads: Vec<NodeId>,
    pub writes: Vec<NodeId>,
}

/// The accesses that were ever executed, of all locations that are always accessed as a whole.
pub fn accesses(forest: &Forest) -> BTreeMap<Location, Accesses> {
    let mut locations: BTreeMap<Location, Accesses> = BTreeMap::new();
    for (id, node) in (0..).zip(&forest.nodes) {
        let accessed = node
            .action()
            .filter(|a| is_access(a.kind) && !node.is_stub());
        let Some(action) = accessed else { continue };
        let accesses = locations.entry((action.object, action.size)).or_default();
        if !matches!(action.kind, Kind::Write | Kind::AtomicWrite) {
            accesses.reads.push(id);
        }
        if !matches!(action.kind, Kind::Read | Kind::AtomicRead) {
            accesses.writes.push(id);
        }
    }
    let irregular = irregular(locations.keys().copied());
    locations.retain(|location, _| !irregular.contains(location) && location.1 <= 8);
    locations
}

/// All counters.
pub fn counters(forest: &Forest) -> Vec<Counter> {
    let mut found = Vec::new();
    for (location, accesses) in accesses(forest) {
        found.extend(counter(forest, location, accesses));
        if found.len() * forest.nodes.len() > LIMIT {
            break;
        }
    }
    found
}

/// Locations that are not always accessed as a whole.
pub fn irregular(locations: impl Iterator<Item = Location>) -> BTreeSet<Location> {
    let mut irregular = BTreeSet::new();
    let mut before: Option<(Location, u64)> = None;
    for location in locations {
        let end = location.0.saturating_add(location.1.into());
        match before {
            Some((other, reach)) if location.0 < reach => {
                irregular.extend([other, location]);
                before = Some((location, end.max(reach)));
            }
            _ => before = Some((location, end)),
        }
    }
    irregular
}

/// What is there at first, if that is known.
pub fn initial(forest: &Forest, (address, size): Location) -> Option<Interval> {
    let mut value = 0;
    for i in 0..u64::from(size) {
        let bytes = forest.init.get(&address.wrapping_add(i));
        let byte = bytes.filter(|b| b.len() == 1).and_then(BTreeSet::first);
        value |= u64::from(*byte?) << (8 * i);
    }
    Some(Interval::one(value, 8 * size))
}

fn counter(forest: &Forest, location: Location, accesses: Accesses) -> Option<Counter> {
    let width = 8 * location.1;
    let initial = initial(forest, location)?;
    let mut base = initial;
    let mut writes = BTreeMap::new();
    for &write in &accesses.writes {
        let term = forest.node(write).action()?.term?;
        let mut shapes = Shapes {
            forest,
            location,
            write,
            known: HashMap::new(),
        };
        let shape = shapes.shape(term, 0)?;
        if let Some(value) = shape.value {
            if value == Interval::full(width) {
                return None;
            }
            base = base.join(value);
        }
        writes.insert(write, shape);
    }
    let counts = writes.values().any(|w| w.more.is_some());
    let counter = Counter {
        location,
        base,
        initial,
        writes,
        reads: accesses.reads,
    };
    let (low, high) = counter.whole(forest);
    let full = Interval::full(width);
    (counts && full.low <= low && high <= full.high).then_some(counter)
}

/// What the terms of a write are.
struct Shapes<'f> {
    forest: &'f Forest,
    location: Location,
    write: NodeId,
    known: HashMap<TermId, Option<Shape>>,
}

impl Shapes<'_> {
    /// What a term is; `None`: anything.
    fn shape(&mut self, id: TermId, depth: u32) -> Option<Shape> {
        if depth > DEPTH {
            return None;
        }
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let shape = self.find(id, depth);
        self.known.insert(id, shape);
        shape
    }

    fn find(&mut self, id: TermId, depth: u32) -> Option<Shape> {
        let of = |value| Shape {
            value: Some(value),
            more: None,
        };
        let Term::Op {
            op,
            width,
            extra,
            args,
        } = self.forest.terms.get(id)
        else {
            return Some(self.leaf(id));
        };
        let args = &args[..op.arity()];
        let terms = &self.forest.terms;
        let widths: Vec<u8> = args.iter().map(|&a| terms.get(a).width()).collect();
        let shapes = args.iter().map(|&a| self.shape(a, depth + 1));
        let shapes: Vec<Shape> = shapes.collect::<Option<_>>()?;
        let values: Option<Vec<Interval>> = shapes.iter().map(|s| s.value).collect();
        let value = values.map(|values| apply(op, width, extra, &values, &widths));
        match (op, &shapes[..]) {
            (Op::Ite, [_, a, b]) => Some(Shape {
                value: a.value.into_iter().chain(b.value).reduce(Interval::join),
                more: a.more.into_iter().chain(b.more).reduce(More::join),
            }),
            (Op::Add, [a, b] | [b, a]) if a.more.is_some() && b.more.is_none() => Some(Shape {
                value,
                more: Some(a.more?.plus(b.value?)),
            }),
            (Op::Sub, [a, b]) if a.more.is_some() && b.more.is_none() => Some(Shape {
                value,
                more: Some(a.more?.plus(negated(b.value?))),
            }),
            _ if shapes.iter().all(|s| s.more.is_none()) => value.map(of),
            // The bits of the location stay as they are.
            (Op::ZExt | Op::SExt, [a]) => Some(Shape {
                value,
                more: a.more,
            }),
            (Op::Extract, [a]) if extra == 0 && width >= 8 * self.location.1 => Some(Shape {
                value,
                more: a.more,
            }),
            _ => None,
        }
    }

    fn leaf(&self, id: TermId) -> Shape {
        match self.forest.terms.get(id) {
            Term::Const { width, value } => Shape {
                value: Some(Interval::one(value, width)),
                more: None,
            },
            Term::Read { place, width }
                if width == 8 * self.location.1
                    && reads(self.forest, self.location, self.write, place) =>
            {
                Shape {
                    value: None,
                    more: Some(More {
                        by: Interval::one(0, width),
                        read: place,
                    }),
                }
            }
            other => Shape {
                value: Some(Interval::full(other.width())),
                more: None,
            },
        }
    }
}

fn sum(a: Interval, b: Interval) -> Interval {
    Interval {
        low: a.low + b.low,
        high: a.high + b.high,
    }
}

fn negated(a: Interval) -> Interval {
    Interval {
        low: -a.high,
        high: -a.low,
    }
}

/// Does the step of this place, on the path of a write, read the location?
fn reads(forest: &Forest, location: Location, write: NodeId, place: Place) -> bool {
    let mut at = Some(write).filter(|&w| forest.node(w).tree == place.tree);
    while let Some(id) = at.filter(|&id| forest.place(id) != place) {
        at = forest.step_above(id);
    }
    let action = at.and_then(|id| forest.node(id).action());
    action.is_some_and(|a| {
        is_access(a.kind)
            && !matches!(a.kind, Kind::Write | Kind::AtomicWrite)
            && (a.object, a.size) == location
    })
}

impl Counter {
    /// Does one lock guard all that is added? Then nothing is lost between a read and its write, and
    /// the order of the sections says all.
    pub fn is_guarded(&self, locks: &Locks) -> bool {
        let adds = self.writes.iter().filter(|w| w.1.more.is_some());
        let mut held = adds.map(|w| locks.held(*w.0).map(|h| h.0).collect::<BTreeSet<u64>>());
        let first = held.next().unwrap_or_default();
        let common = held.fold(first, |common, other| &common & &other);
        !common.is_empty()
    }

    /// What the writes above each node have added: at least and at most.
    fn sums(&self, forest: &Forest) -> Vec<(i128, i128)> {
        let mut sums: Vec<(i128, i128)> = Vec::with_capacity(forest.nodes.len());
        for node in &forest.nodes {
            let sum = node.parent.map_or((0, 0), |(parent, _)| {
                let (low, high) = sums[parent as usize];
                let more = self.writes.get(&parent).and_then(|w| w.more);
                more.map_or((low, high), |m| {
                    (low + m.by.low.min(0), high + m.by.high.max(0))
                })
            });
            sums.push(sum);
        }
        sums
    }

    /// The same of each thread, whatever its path.
    fn of_threads(forest: &Forest, sums: &[(i128, i128)]) -> Vec<(i128, i128)> {
        let mut threads = vec![(0, 0); forest.trees.len()];
        for (node, sum) in forest.nodes.iter().zip(sums) {
            let (low, high): &mut (i128, i128) = &mut threads[node.tree as usize];
            *low = sum.0.min(*low);
            *high = sum.1.max(*high);
        }
        threads
    }

    /// Bounds of what it ever holds.
    fn whole(&self, forest: &Forest) -> (i128, i128) {
        let threads = Self::of_threads(forest, &self.sums(forest));
        let low: i128 = threads.iter().map(|t| t.0).sum();
        let high: i128 = threads.iter().map(|t| t.1).sum();
        (self.base.low + low, self.base.high + high)
    }

    /// Bounds of what each read returns.
    fn bounds(&self, forest: &Forest, order: &Order) -> Vec<(NodeId, Interval)> {
        let sums = self.sums(forest);
        let threads = Self::of_threads(forest, &sums);
        let bounds = |&read: &NodeId| {
            let here = forest.place(read);
            let own = sums[read as usize];
            let mut found = Interval {
                low: self.base.low + own.0,
                high: self.base.high + own.1,
            };
            for (tree, thread) in (0..).zip(&threads) {
                let later = order.before(here, Place { tree, step: 0 });
                if tree != here.tree && !later && forest.coexist(here.tree, tree) {
                    found.low += thread.0;
                    found.high += thread.1;
                }
            }
            (read, found)
        };
        self.reads.iter().map(bounds).collect()
    }
}

/// Bounds of what reads return, by place and bits, where that is always one of counters.
pub fn bounds(
    forest: &Forest,
    order: &Order,
    counters: &[Counter],
) -> BTreeMap<(Place, u8), Interval> {
    let mut found: BTreeMap<(Place, u8), Interval> = BTreeMap::new();
    let mut known: BTreeSet<NodeId> = BTreeSet::new();
    for counter in counters {
        for (read, bounds) in counter.bounds(forest, order) {
            known.insert(read);
            let at = (forest.place(read), 8 * counter.location.1);
            let entry = found.entry(at).or_insert(bounds);
            *entry = entry.join(bounds);
        }
    }
    for (id, node) in (0..).zip(&forest.nodes) {
        let action = node.action().filter(|a| is_access(a.kind));
        if let Some(action) = action.filter(|_| !known.contains(&id)) {
            found.remove(&(forest.place(id), action.size.saturating_mul(8)));
        }
    }
    found
}

/// A place where something is written.
#[derive(Default)]
struct Site {
    /// The writes that add something, in the direction that is looked at.
    adds: Vec<NodeId>,
    /// Where the latest of their reads is.
    read: Option<Place>,
    /// The writes of values of their own, and the bound of these.
    begins: Vec<NodeId>,
    value: Option<Interval>,
}

/// Says of each read of a counter that there is a chain of writes, one after the read of the other,
/// that make up what it returns.
pub fn constrain(formula: &Formula<'_>, counters: &[Counter]) {
    for counter in counters {
        let mut reads: BTreeMap<Place, Vec<NodeId>> = BTreeMap::new();
        for &read in &counter.reads {
            let place = formula.forest.place(read);
            reads.entry(place).or_default().push(read);
        }
        for up in [true, false] {
            let (sites, most) = counter.sites(formula.forest, up);
            let adding = sites.iter().filter(|s| !s.1.adds.is_empty());
            let threads: BTreeSet<TreeId> = adding.map(|s| s.0.tree).collect();
            let gates = reads.len() * sites.len().pow(2);
            if threads.len() > 2 && gates <= GATES {
                for (&read, nodes) in &reads {
                    chain(formula, counter, (&sites, most, up), (read, nodes));
                }
            }
        }
    }
}

impl Counter {
    /// The places of writes, and what each of them adds at most, up or down.
    fn sites(&self, forest: &Forest, up: bool) -> (BTreeMap<Place, Site>, i128) {
        let mut sites: BTreeMap<Place, Site> = BTreeMap::new();
        let mut most = 0;
        for (&write, shape) in &self.writes {
            let site = sites.entry(forest.place(write)).or_default();
            if let Some(value) = shape.value {
                site.begins.push(write);
                site.value = site.value.into_iter().chain([value]).reduce(Interval::join);
            }
            if let Some(more) = shape.more {
                let by = if up { more.by.high } else { -more.by.low };
                if by > 0 {
                    site.adds.push(write);
                    site.read = site.read.max(Some(more.read));
                    most = by.max(most);
                }
            }
        }
        (sites, most)
    }
}

/// What may begin a chain.
struct Start<'s> {
    /// `None`: the initial value.
    place: Option<Place>,
    site: Option<&'s Site>,
    value: Interval,
}

/// The chain of one read.
fn chain(
    formula: &Formula<'_>,
    counter: &Counter,
    (sites, most, up): (&BTreeMap<Place, Site>, i128, bool),
    (read, nodes): (Place, &[NodeId]),
) {
    let width = 8 * counter.location.1;
    let value = read_value(read, width);
    let happens = formula.any_executed(nodes);
    let earlier = |place: Place| {
        let apart = place == read || !formula.coexist(place.tree, read.tree);
        !apart && !formula.before(read, place)
    };
    let name = |kind: char, place: Option<Place>| {
        let Place { tree, step } = read;
        let of = place.map_or(String::new(), |p| format!("{}_{}", p.tree, p.step));
        let address = counter.location.0;
        Bool::new_const(format!("{kind}{up}{tree}_{step}_{of}_{address}"))
    };
    // The writes that add something on the way to what is read.
    let mut links: Vec<(Place, Place, Bool)> = Vec::new();
    for (&place, site) in sites.iter().filter(|s| earlier(*s.0)) {
        let Some(from) = site.read else { continue };
        let link = name('l', Some(place));
        let needed = [
            formula.any_executed(&site.adds),
            formula.precedes(place, read),
        ];
        formula.solver.assert(&link.implies(all(&needed)));
        for (other, before, with) in &links {
            let order = [
                formula.precedes(*other, from),
                formula.precedes(place, *before),
            ];
            let apart = [link.not(), with.not()];
            let fact: Vec<Bool> = apart.into_iter().chain(order).collect();
            formula.solver.assert(&any(&fact));
        }
        links.push((place, from, link));
    }
    let least = at_least(links.iter().map(|l| &l.2));
    let own = sites.iter().filter(|s| earlier(*s.0));
    let own = own.filter_map(|(&place, site)| {
        Some(Start {
            place: Some(place),
            value: site.value?,
            site: Some(site),
        })
    });
    let initial = Start {
        place: None,
        value: counter.initial,
        site: None,
    };
    let mut starts = vec![happens.not()];
    for start in own.chain([initial]) {
        let begins = name('b', start.place);
        if let (Some(place), Some(site)) = (start.place, start.site) {
            let needed = [
                formula.any_executed(&site.begins),
                formula.precedes(place, read),
            ];
            formula.solver.assert(&begins.implies(all(&needed)));
            for (_, from, link) in &links {
                let both = all(&[begins.clone(), link.clone()]);
                let fact = both.implies(formula.precedes(place, *from));
                formula.solver.assert(&fact);
            }
        }
        for n in 0..=least.len() {
            let so_far = n as i128 * most;
            let bound = match up {
                true => start.value.high + so_far,
                false => start.value.low - so_far,
            };
            if !Interval::full(width).contains(bound) {
                break;
            }
            let bound = constant(bound as u64, width);
            let beyond = match up {
                true => bound.slt(&value),
                false => value.slt(&bound),
            };
            let mut fact = vec![begins.not(), beyond.not()];
            fact.extend(least.get(n).cloned());
            formula.solver.assert(&any(&fact));
        }
        starts.push(begins);
    }
    formula.solver.assert(&any(&starts));
}

/// At least one, two, ... of these hold.
fn at_least<'b>(truths: impl Iterator<Item = &'b Bool>) -> Vec<Bool> {
    let mut least: Vec<Bool> = Vec::new();
    for truth in truths {
        for n in (0..=least.len()).rev() {
            let one_more = match n {
                0 => truth.clone(),
                _ => all(&[least[n - 1].clone(), truth.clone()]),
            };
            match least.get_mut(n) {
                Some(so_many) => *so_many = any(&[so_many.clone(), one_more]),
                None => least.push(one_more),
            }
        }
    }
    least
}
