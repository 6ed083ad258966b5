//! The order of places as truths per pair of places.
//!
//! A pair has one truth, "the first is before the second", and its negation says the reverse. Pairs
//! that program order, creations and joins fix have none. That the truths of two threads fit together is said
//! at once: if one place is before another, so are those above it before those below the other
//! ([`Order::stairs`]); for two threads that is all. What goes round through three or more is
//! looked for in the solver's model, and forbidden when it is met ([`Order::cycles`]). So is what comes
//! between the places of a [`Unit`].
//!
//! All that is built from these truths asks for an order only of steps that are executed, so those
//! that are not may be left in disorder.
//!
//! Integer clocks, by Z3, took 1.0 s, 2.8 s and 0.7 s for one question each of Fibonacci with 5
//! additions, of figure 9 with 5 passes and of figure 2 with 9 more threads; pairs, by its core for
//! theories, 0.6 s, 1.4 s and 3.1 s. With pairs all is propositional, and CaDiCaL takes less than
//! half of that for all questions of such a program together.

use super::circuit::{Bool, any};
use super::forest::{Forest, TreeId};
use super::places::{Fixed, Place};
use super::sat::{Model, holds};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

/// The pairs of places whose order is open.
#[derive(Default)]
pub struct Order {
    fixed: Fixed,
    /// The threads, from the first.
    trees: TreeId,
    /// The first place is the smaller one.
    pairs: RefCell<BTreeMap<(Place, Place), Bool>>,
}

/// What comes after a place in a model, and whether a pair says so; otherwise it is fixed.
type Edges = HashMap<Place, Vec<(Place, bool)>>;

/// Pairs on a cycle, each with its first place first.
type Cycle = Vec<(Place, Place)>;

/// Places of one thread, one after the other, that nothing of other threads comes between.
pub struct Unit {
    pub first: Place,
    pub last: Place,
    /// They are one in each model in which this holds.
    pub when: Bool,
}

impl Unit {
    fn holds(&self, place: Place) -> bool {
        (self.first..=self.last).contains(&place)
    }
}

/// The first place of the unit that a place belongs to, which may be it alone.
fn first_of(units: &[Unit], place: Place) -> Place {
    let unit = units.iter().find(|unit| unit.holds(place));
    unit.map_or(place, |unit| unit.first)
}

/// Clauses that one look at a model adds at most.
const CYCLES: usize = 500;

impl Order {
    pub fn new(forest: &Forest) -> Order {
        Order {
            fixed: Fixed::new(forest),
            trees: forest.trees.len() as TreeId,
            pairs: RefCell::default(),
        }
    }

    /// Does `a`, if it is executed, come before `b` in every execution?
    pub fn before(&self, a: Place, b: Place) -> bool {
        self.fixed.before(a, b)
    }

    /// Place `a` comes before place `b`.
    pub fn precedes(&self, a: Place, b: Place) -> Bool {
        if self.before(a, b) {
            return Bool::from_bool(true);
        }
        if a == b || self.before(b, a) {
            return Bool::from_bool(false);
        }
        let mut pairs = self.pairs.borrow_mut();
        let (first, second) = (a.min(b), a.max(b));
        let truth = pairs.entry((first, second)).or_insert_with(|| {
            let Place { tree, step } = first;
            Bool::new_const(format!("p{tree}_{step}_{}_{}", second.tree, second.step))
        });
        match a < b {
            true => truth.clone(),
            false => truth.not(),
        }
    }

    /// What the pairs so far have to do with each other, two threads at a time.
    pub fn stairs(&self) -> Vec<Bool> {
        let mut rows: BTreeMap<_, BTreeMap<u32, BTreeMap<u32, Bool>>> = BTreeMap::new();
        for ((a, b), truth) in self.pairs.borrow().iter() {
            let rows = rows.entry((a.tree, b.tree)).or_default();
            let row = rows.entry(a.step).or_default();
            row.insert(b.step, truth.clone());
        }
        let mut facts = Vec::new();
        for rows in rows.values() {
            for (&a, row) in rows {
                for (&b, truth) in row {
                    // Only the nearest: the rest follows.
                    let mut nearest = u32::MAX;
                    if let Some((&later, next)) = row.range(b + 1..).next() {
                        facts.push(truth.implies(next));
                        nearest = later;
                    }
                    for (_, above) in rows.range(..a).rev() {
                        let next = above.range(b..).next().filter(|n| *n.0 < nearest);
                        if let Some((&later, next)) = next {
                            facts.push(truth.implies(next));
                            nearest = later;
                        }
                        if nearest == b {
                            break;
                        }
                    }
                }
            }
        }
        facts
    }

    /// Clauses against the cycles among the executed places, in the order of each thread, of a
    /// model in which these are the units; none if there is no cycle.
    pub fn cycles(&self, model: &Model, executed: &BTreeSet<Place>, units: &[Unit]) -> Vec<Bool> {
        let mut edges = self.edges(model, executed);
        let sorted = sort(executed, &edges, units);
        if sorted.len() == executed.len() {
            return Vec::new();
        }
        for unit in units {
            let back = edges.entry(unit.last).or_default();
            back.push((unit.first, false));
        }
        let sorted: HashSet<Place> = sorted.into_iter().collect();
        let tangled = |p: &Place| !sorted.contains(p);
        let mut cycles: BTreeSet<Cycle> = BTreeSet::new();
        for &from in executed.iter().filter(|p| tangled(p)) {
            for &(to, _) in edges.get(&from).into_iter().flatten().filter(|e| e.1) {
                if tangled(&to) && cycles.len() < CYCLES {
                    cycles.extend(cycle(&edges, from, to));
                }
            }
        }
        let forbidden = |cycle: Cycle| {
            let other = cycle.iter().map(|&(a, b)| self.precedes(b, a));
            // Whatever enters a unit or leaves it there does so by a pair.
            let touched = |unit: &&Unit| cycle.iter().any(|p| unit.holds(p.0) || unit.holds(p.1));
            let apart = units.iter().filter(touched).map(|unit| unit.when.not());
            any(&other.chain(apart).collect::<Vec<_>>())
        };
        cycles.into_iter().map(forbidden).collect()
    }

    /// The executed places in an order that the model allows, with few changes of thread, and none
    /// within a unit.
    pub fn sequence(
        &self,
        model: &Model,
        executed: &BTreeSet<Place>,
        units: &[Unit],
    ) -> Vec<Place> {
        sort(executed, &self.edges(model, executed), units)
    }

    /// The edges of a model: from a place to what comes after it.
    fn edges(&self, model: &Model, executed: &BTreeSet<Place>) -> Edges {
        let mut edges = Edges::new();
        let mut put = |from, to, pair| edges.entry(from).or_default().push((to, pair));
        for &place in executed {
            let above = place.step.checked_sub(1);
            let above = above.map(|step| Place { step, ..place });
            for tree in (0..self.trees).filter(|&tree| tree != place.tree) {
                let steps = self.fixed.steps_before(tree, place);
                if steps > above.map_or(0, |above| self.fixed.steps_before(tree, above)) {
                    let first = Place { tree, step: 0 };
                    let mut before = executed.range(first..Place { tree, step: steps });
                    if let Some(&last) = before.next_back() {
                        put(last, place, false);
                    }
                }
            }
            if let Some(above) = above {
                put(above, place, false);
            }
        }
        for (&(a, b), truth) in self.pairs.borrow().iter() {
            if executed.contains(&a) && executed.contains(&b) {
                let (from, to) = match holds(model, truth) {
                    true => (a, b),
                    false => (b, a),
                };
                put(from, to, true);
            }
        }
        edges
    }
}

/// Sorts topologically, each unit as a whole; what is on a cycle, or after one, is missing. Stays
/// with a thread as long as possible.
fn sort(places: &BTreeSet<Place>, edges: &Edges, units: &[Unit]) -> Vec<Place> {
    let mut missing: HashMap<Place, usize> = HashMap::new();
    let first = |place| first_of(units, place);
    for (&from, to) in edges {
        for &(to, _) in to {
            if first(from) != first(to) {
                *missing.entry(first(to)).or_default() += 1;
            }
        }
    }
    let free = |p: &&Place| first(**p) == **p && !missing.contains_key(p);
    let mut ready: BTreeSet<Place> = places.iter().filter(free).copied().collect();
    let mut sorted: Vec<Place> = Vec::with_capacity(places.len());
    loop {
        let last = sorted.last().map(|l| l.tree);
        let same = ready.iter().find(|p| Some(p.tree) == last);
        let Some(next) = same.or(ready.first()).copied() else {
            return sorted;
        };
        ready.remove(&next);
        let unit = units.iter().find(|unit| unit.first == next);
        for &place in places.range(next..=unit.map_or(next, |unit| unit.last)) {
            sorted.push(place);
            for &(to, _) in edges.get(&place).into_iter().flatten() {
                if first(to) == next {
                    continue;
                }
                if let Some(count) = missing.get_mut(&first(to)) {
                    *count -= 1;
                    if *count == 0 {
                        ready.insert(first(to));
                    }
                }
            }
        }
    }
}

/// The pair and those on a way back from its second place that needs as few as can be; `None` if
/// there is no way.
fn cycle(edges: &Edges, first: Place, second: Place) -> Option<Cycle> {
    let mut came: HashMap<Place, (usize, Option<(Place, bool)>)> = HashMap::new();
    came.insert(second, (0, None));
    let mut queue = VecDeque::from([(0, second)]);
    while let Some((cost, at)) = queue.pop_front() {
        if at == first {
            break;
        }
        if came[&at].0 < cost {
            continue;
        }
        for &(next, pair) in edges.get(&at).into_iter().flatten() {
            let further = cost + usize::from(pair);
            if came.get(&next).is_none_or(|c| further < c.0) {
                came.insert(next, (further, Some((at, pair))));
                match pair {
                    true => queue.push_back((further, next)),
                    false => queue.push_front((further, next)),
                }
            }
        }
    }
    let mut pairs = vec![(first, second)];
    let mut to = first;
    while let Some((from, pair)) = came.get(&to)?.1 {
        if pair {
            pairs.push((from, to));
        }
        to = from;
    }
    pairs.sort_unstable();
    Some(pairs)
}
