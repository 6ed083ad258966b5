//! Words of memory to which threads only add, each time in one step.
//!
//! Whoever reads such a word finds what was there at first and all that was added before, whatever the
//! order of the additions among each other: of each thread, what it has added by its last addition
//! before the read. That follows from which write each read gets its value from, but by way of one
//! read after another, back in time; here it is said at once. So it is for counters of references, for
//! tickets, and for locks that count who holds them: seconds in the solver with and without it for
//! the lock of Linux of tests/paper with 5 tries: 4.2 and 116.

use super::circuit::{Bool, all};
use super::counters::{self, Accesses, Location, initial};
use super::forest::{Forest, NodeId, TreeId};
use super::formula::{Formula, read_value};
use super::places::Place;
use super::terms::{Term, TermId, Terms, mask};
use super::vectors::{BV, constant, equal};
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Op;
use std::collections::{BTreeMap, BTreeSet};

/// Gates, counted roughly, that this may take.
const LIMIT: usize = 4_000_000;
/// Operations within each other that are looked at.
const DEPTH: u32 = 100;

/// A word to which threads only add.
struct Total {
    location: Location,
    initial: u64,
    /// What each step adds.
    adds: BTreeMap<NodeId, u64>,
    reads: Vec<NodeId>,
    /// Stores that come before all that, all of one thread.
    stores: BTreeMap<NodeId, u64>,
}

/// What a thread has put there by its last write before something, if this holds.
struct Case {
    place: Place,
    executed: Bool,
    value: u64,
}

/// All such words. `before`: does one place come before another in every execution?
fn totals(forest: &Forest, before: impl Fn(Place, Place) -> bool) -> Vec<Total> {
    let accesses = counters::accesses(forest).into_iter();
    accesses
        .filter_map(|(location, accesses)| total(forest, &before, location, accesses))
        .collect()
}

fn total(
    forest: &Forest,
    before: impl Fn(Place, Place) -> bool,
    location: Location,
    Accesses { reads, writes }: Accesses,
) -> Option<Total> {
    let width = 8 * location.1;
    let (mut adds, mut stores) = (BTreeMap::new(), BTreeMap::new());
    for write in writes {
        let action = forest.node(write).action()?;
        let exchanges = action.kind == Kind::Rmw;
        let linear = Linear {
            terms: &forest.terms,
            read: exchanges.then(|| forest.place(write)),
            width,
        };
        let (adds_to_it, value) = linear.of(action.term?, 0)?;
        match (exchanges, adds_to_it) {
            (true, true) => adds.insert(write, value & mask(width)),
            (false, false) => stores.insert(write, value & mask(width)),
            _ => return None,
        };
    }
    let place = |id: &NodeId| forest.place(*id);
    let read: BTreeSet<Place> = reads.iter().map(place).collect();
    let trees: BTreeSet<TreeId> = stores.keys().map(|id| place(id).tree).collect();
    let first = |store| read.iter().all(|&read| before(place(store), read));
    let fits = !adds.is_empty() && trees.len() <= 1 && stores.keys().all(first);
    let initial = initial(forest, location)?.low as u64 & mask(width);
    fits.then_some(Total {
        location,
        initial,
        adds,
        reads,
        stores,
    })
}

/// Terms as a constant, or what a step reads and a constant, as far as the lowest bits show it.
struct Linear<'t> {
    terms: &'t Terms,
    read: Option<Place>,
    width: u8,
}

impl Linear<'_> {
    /// Is what was read in it, and what is added.
    fn of(&self, id: TermId, depth: u32) -> Option<(bool, u64)> {
        if depth > DEPTH {
            return None;
        }
        let part = |id| self.of(id, depth + 1);
        match self.terms.get(id) {
            Term::Const { value, .. } => Some((false, value)),
            Term::Read { place, width } if Some(place) == self.read && width == self.width => {
                Some((true, 0))
            }
            Term::Op {
                op,
                width,
                extra,
                args: [a, b, _],
            } if width >= self.width && width <= 64 => match op {
                Op::Add => match (part(a)?, part(b)?) {
                    ((true, _), (true, _)) => None,
                    ((x, a), (y, b)) => Some((x || y, a.wrapping_add(b))),
                },
                Op::Sub => match (part(a)?, part(b)?) {
                    (_, (true, _)) => None,
                    ((x, a), (_, b)) => Some((x, a.wrapping_sub(b))),
                },
                Op::ZExt | Op::SExt | Op::Extract
                    if extra == 0 && self.terms.get(a).width() >= self.width =>
                {
                    part(a)
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// Says of each read of such a word what it finds. Returns the words of which this is said.
pub fn constrain(formula: &Formula<'_>) -> BTreeSet<Location> {
    let mut said = BTreeSet::new();
    let mut gates = 0;
    for total in totals(formula.forest, |a, b| formula.before(a, b)) {
        let writes = total.adds.len() + total.stores.len();
        let more = total.reads.len() * writes * 8 * usize::from(total.location.1);
        if gates + more <= LIMIT {
            gates += more;
            total.constrain(formula);
            said.insert(total.location);
        }
    }
    said
}

impl Total {
    fn constrain(&self, formula: &Formula<'_>) {
        let forest = formula.forest;
        let width = 8 * self.location.1;
        let sums = self.sums(forest);
        let cases = self.cases(formula, &sums);
        for &read in &self.reads {
            let place = forest.place(read);
            let mut found = self.base(formula, place);
            found = found.add(&constant(sums[read as usize], width));
            for (&tree, cases) in &cases {
                if tree != place.tree && formula.coexist(tree, place.tree) {
                    found = found.add(&last_before(formula, place, cases, constant(0, width)));
                }
            }
            let same = equal(&read_value(place, width), &found);
            let fact = formula.executed(read).implies(same);
            formula.solver.assert(&fact);
        }
    }

    /// What the thread of each node has added above it.
    fn sums(&self, forest: &Forest) -> Vec<u64> {
        let mut sums: Vec<u64> = Vec::with_capacity(forest.nodes.len());
        for node in &forest.nodes {
            // A parent stands before its children in the list.
            let sum = node.parent.map_or(0, |(parent, _)| {
                let added = self.adds.get(&parent).copied().unwrap_or_default();
                sums[parent as usize].wrapping_add(added)
            });
            sums.push(sum);
        }
        sums
    }

    /// What each thread has added once it has taken a step. Those on one path are in their order, since
    /// a step stands in the list before those below it.
    fn cases(&self, formula: &Formula<'_>, sums: &[u64]) -> BTreeMap<TreeId, Vec<Case>> {
        let mut cases: BTreeMap<TreeId, Vec<Case>> = BTreeMap::new();
        for (&add, &by) in &self.adds {
            let place = formula.forest.place(add);
            cases.entry(place.tree).or_default().push(Case {
                place,
                executed: formula.executed(add),
                value: sums[add as usize].wrapping_add(by),
            });
        }
        cases
    }

    /// What was there at first, or was stored since then.
    fn base(&self, formula: &Formula<'_>, place: Place) -> BV {
        let width = 8 * self.location.1;
        let stores = self.stores.iter().map(|(&store, &value)| Case {
            place: formula.forest.place(store),
            executed: formula.executed(store),
            value,
        });
        let stores: Vec<Case> = stores.collect();
        last_before(formula, place, &stores, constant(self.initial, width))
    }
}

/// The value of the last of these cases that comes before a place, or this one.
fn last_before(formula: &Formula<'_>, place: Place, cases: &[Case], mut value: BV) -> BV {
    let width = value.size() as u8;
    for case in cases {
        let before = formula.precedes(case.place, place);
        let holds = all(&[case.executed.clone(), before]);
        value = holds.ite(&constant(case.value, width), &value);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::by_hand::Do::{self, *};
    use crate::verify::by_hand::{WORD, forest};
    use crate::verify::places::Fixed;

    #[test]
    fn only_sums_are_taken_for_sums() {
        type Row<'r> = (&'r str, bool, &'r [Do], &'r [Do], &'r [Do]);
        let rows: &[Row<'_>] = &[
            ("added to", true, &[], &[Add(1), Add(2)], &[]),
            ("taken from", true, &[], &[Add(u64::MAX), Read], &[Read]),
            ("set first", true, &[Store(3), Store(5)], &[Add(1)], &[]),
            ("set meanwhile", false, &[], &[Add(1)], &[Store(3)]),
            ("set after a read", false, &[Read, Store(3)], &[Add(1)], &[]),
            ("set by two threads", false, &[], &[Store(3), Add(1)], &[]),
            ("exchanged", false, &[], &[Add(1), Swap(2)], &[]),
            ("compared", false, &[], &[Add(1), Cas(0, 1)], &[]),
            ("bits", false, &[], &[Add(1), Or(1)], &[]),
        ];
        for (name, is_sum, before, thread, after) in rows {
            let forest = forest(before, &[&[Add(1)], thread], after);
            let fixed = Fixed::new(&forest);
            let totals = totals(&forest, |a, b| fixed.before(a, b));
            let found: Vec<Location> = totals.iter().map(|t| t.location).collect();
            let expected = if *is_sum { vec![(WORD, 4)] } else { Vec::new() };
            assert_eq!(found, expected, "{name}");
        }
    }
}
