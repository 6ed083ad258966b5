//! Words of memory that threads use as locks.
//!
//! A word is one if its first content, *free*, is put back only by threads that have taken it: each
//! write makes an exchange out of it that takes it where it is free and leaves it taken where it is
//! not, or puts *free* there on a path on which its thread has taken it, or comes before all that take
//! it. Then takings and releases alternate: by induction over time, whoever puts *free* there is who
//! has taken the word last, since all others who took it have given it back. So sections from a taking
//! to its release exclude each other as those of a mutex do. That follows from what the formula says of
//! memory, but the solver finds it out anew for every two sections: seconds in the solver with and
//! without it for the spin lock of tests/paper with 5 tries: 0.7 and 6.4.

use super::counters::{self, Accesses, Location, initial};
use super::forest::{Forest, NodeId, What};
use super::intervals::{Interval, apply};
use super::locks::{lock_of, taking};
use super::places::{Fixed, Place};
use super::terms::{Term, TermId, mask};
use raddle_protocol::event::Kind;
use raddle_protocol::expr::Op;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// Operations within each other that are looked at.
const DEPTH: u32 = 100;

/// What a word holds when nobody has taken it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Free {
    pub value: u64,
    /// Bits of the word.
    pub width: u8,
}

/// All words that are locks.
#[derive(Debug, Default)]
pub struct Words {
    /// By address.
    pub free: BTreeMap<u64, Free>,
    /// Steps that take a word where it is free.
    pub takes: BTreeSet<NodeId>,
    /// Who stands at this node has taken a word in each of these steps, and not given it back.
    pub taken: BTreeMap<NodeId, Vec<NodeId>>,
    /// Steps that give back what their thread has taken.
    pub gives: BTreeSet<NodeId>,
}

/// What a write does to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Takes,
    /// Free stays free, and taken stays taken.
    Leaves,
    Frees,
}

/// A word that may be one.
struct Candidate {
    free: Free,
    uses: BTreeMap<NodeId, Use>,
}

/// What a thread has done with a word.
#[derive(Clone, Debug)]
enum State {
    /// One of these may have taken it.
    Tried(Vec<NodeId>),
    Holds,
}

/// Looks at all words that something is exchanged with.
pub fn words(forest: &Forest) -> Words {
    let mut candidates = candidates(forest);
    if candidates.is_empty() {
        return Words::default();
    }
    let found = Walk::new(forest, &candidates).follow();
    let fixed = match found.bare[..] {
        [] => Fixed::default(),
        _ => Fixed::new(forest),
    };
    for &free in &found.bare {
        let Some(object) = forest.node(free).action().map(|a| a.object) else {
            continue;
        };
        let comes_first = |candidate: &Candidate| {
            let takes = candidate.uses.iter().filter(|u| *u.1 == Use::Takes);
            let mut places = takes.map(|u| forest.place(*u.0));
            places.all(|place| fixed.before(forest.place(free), place))
        };
        if !candidates.get(&object).is_some_and(comes_first) {
            candidates.remove(&object);
        }
    }
    let is_lock = |id: &NodeId| {
        let object = forest.node(*id).action().map(|a| a.object);
        object.is_some_and(|object| candidates.contains_key(&object))
    };
    let Found {
        mut taken,
        mut gives,
        ..
    } = found;
    taken.values_mut().for_each(|steps| steps.retain(is_lock));
    gives.retain(is_lock);
    let uses = candidates.values().flat_map(|c| &c.uses);
    let takes = uses.filter(|u| *u.1 == Use::Takes).map(|u| *u.0);
    Words {
        takes: takes.collect(),
        free: candidates.iter().map(|(&at, c)| (at, c.free)).collect(),
        taken,
        gives,
    }
}

/// Words of which each write does one thing, and that somebody takes and somebody frees.
fn candidates(forest: &Forest) -> BTreeMap<u64, Candidate> {
    let locks = (0..forest.nodes.len() as NodeId).filter(|&id| taking(forest, id).is_some());
    let locks: BTreeSet<u64> = locks
        .filter_map(|id| forest.node(id).action().map(lock_of))
        .collect();
    let mut found = BTreeMap::new();
    for (location, Accesses { writes, .. }) in counters::accesses(forest) {
        if !locks.contains(&location.0)
            && let Some(candidate) = candidate(forest, location, &writes)
        {
            found.insert(location.0, candidate);
        }
    }
    found
}

fn candidate(forest: &Forest, location: Location, writes: &[NodeId]) -> Option<Candidate> {
    let free = Free {
        value: initial(forest, location)?.low as u64 & mask(8 * location.1),
        width: 8 * location.1,
    };
    let mut uses = BTreeMap::new();
    for &write in writes {
        uses.insert(write, what_it_does(forest, write, free)?);
    }
    let has = |what| uses.values().any(|u| *u == what);
    (has(Use::Takes) && has(Use::Frees)).then_some(Candidate { free, uses })
}

fn what_it_does(forest: &Forest, write: NodeId, free: Free) -> Option<Use> {
    let action = forest.node(write).action()?;
    let term = action.term?;
    let place = forest.place(write);
    let [if_free, if_taken] = [true, false].map(|is_free| {
        let mut values = Values::new(forest, free, place, is_free);
        values.value(term, 0).is_free
    });
    match (action.kind, if_free, if_taken) {
        (_, Some(true), Some(true)) => Some(Use::Frees),
        (Kind::Rmw, Some(false), Some(false)) => Some(Use::Takes),
        (Kind::Rmw, Some(true), Some(false)) => Some(Use::Leaves),
        _ => None,
    }
}

/// What is known of a value.
#[derive(Clone, Copy)]
struct Seen {
    bounds: Interval,
    /// Are its lowest bits, as many as the word has, those of a free word?
    is_free: Option<bool>,
}

/// Values where a read of a word has found it free, or taken.
struct Values<'f> {
    forest: &'f Forest,
    free: Free,
    read: Place,
    is_free: bool,
    known: HashMap<TermId, Seen>,
}

impl Values<'_> {
    fn new(forest: &Forest, free: Free, read: Place, is_free: bool) -> Values<'_> {
        Values {
            forest,
            free,
            read,
            is_free,
            known: HashMap::new(),
        }
    }

    fn of(&self, bounds: Interval, width: u8) -> Seen {
        let Free { value, width: bits } = self.free;
        let is_free = (bounds.low == bounds.high && (bits..=64).contains(&width))
            .then(|| bounds.low as u64 & mask(bits) == value);
        Seen { bounds, is_free }
    }

    fn value(&mut self, id: TermId, depth: u32) -> Seen {
        if let Some(&known) = self.known.get(&id) {
            return known;
        }
        let found = match self.forest.terms.get(id) {
            Term::Const { width, value } => self.of(Interval::one(value, width), width),
            Term::Read { place, width } if place == self.read && width == self.free.width => {
                match self.is_free {
                    true => self.of(Interval::one(self.free.value, width), width),
                    false => Seen {
                        bounds: Interval::full(width),
                        is_free: Some(false),
                    },
                }
            }
            Term::Op {
                op,
                width,
                extra,
                args,
            } if depth < DEPTH => self.applied((op, width, extra), &args[..op.arity()], depth),
            other => self.of(Interval::full(other.width()), other.width()),
        };
        self.known.insert(id, found);
        found
    }

    fn applied(&mut self, (op, width, extra): (Op, u8, u16), args: &[TermId], depth: u32) -> Seen {
        let seen: Vec<Seen> = args.iter().map(|&a| self.value(a, depth + 1)).collect();
        let terms = &self.forest.terms;
        let widths: Vec<u8> = args.iter().map(|&a| terms.get(a).width()).collect();
        let bounds: Vec<Interval> = seen.iter().map(|s| s.bounds).collect();
        let found = self.of(apply(op, width, extra, &bounds, &widths), width);
        let is_free = match (op, &seen[..]) {
            // They differ in their lowest bits.
            (Op::Eq | Op::Ne, [a, b]) if a.is_free.is_some_and(|a| b.is_free == Some(!a)) => {
                return self.of(Interval::one((op == Op::Ne).into(), 1), 1);
            }
            (Op::Ite, [when, a, b]) => match (when.bounds.low, when.bounds.high) {
                (1, _) => a.is_free,
                (_, 0) => b.is_free,
                _ => a.is_free.filter(|_| a.is_free == b.is_free),
            },
            (Op::ZExt | Op::SExt, [a]) => a.is_free,
            (Op::Extract, [a]) if extra == 0 && width >= self.free.width => a.is_free,
            _ => None,
        };
        Seen {
            is_free: found.is_free.or(is_free),
            ..found
        }
    }
}

/// What paths show, of all candidates.
#[derive(Default)]
struct Found {
    /// See [`Words`].
    taken: BTreeMap<NodeId, Vec<NodeId>>,
    gives: BTreeSet<NodeId>,
    /// Steps that free what their thread has not taken.
    bare: Vec<NodeId>,
}

/// The way along all paths.
struct Walk<'f> {
    forest: &'f Forest,
    candidates: &'f BTreeMap<u64, Candidate>,
    found: Found,
    /// By step that may take a word, where it has found it free and where taken.
    values: HashMap<(NodeId, bool), Values<'f>>,
}

type States = Rc<BTreeMap<u64, State>>;

impl<'f> Walk<'f> {
    fn new(forest: &'f Forest, candidates: &'f BTreeMap<u64, Candidate>) -> Walk<'f> {
        Walk {
            forest,
            candidates,
            found: Found::default(),
            values: HashMap::new(),
        }
    }

    fn follow(mut self) -> Found {
        let (forest, candidates) = (self.forest, self.candidates);
        let mut states: Vec<States> = Vec::with_capacity(forest.nodes.len());
        for (id, node) in (0..).zip(&forest.nodes) {
            // A parent stands before its children in the list.
            let mut here = match node.parent {
                None => States::default(),
                Some((parent, outcome)) => {
                    let above = states[parent as usize].clone();
                    self.decided((parent, outcome, id), above)
                }
            };
            if let Some(action) = node.action()
                && let Some(candidate) = candidates.get(&action.object)
                && let Some(what) = candidate.uses.get(&id)
            {
                self.step((id, action.object), *what, &mut here);
            }
            states.push(here);
        }
        self.found
    }

    /// What follows from the outcome of a decision, if it is one.
    fn decided(
        &mut self,
        (parent, outcome, child): (NodeId, u64, NodeId),
        mut states: States,
    ) -> States {
        let What::Decide(term, _) = self.forest.node(parent).what else {
            return states;
        };
        let outcome = Interval::one(outcome, self.forest.terms.get(term).width()).low;
        for (object, state) in states.clone().iter() {
            let State::Tried(steps) = state else { continue };
            let free = self.candidates[object].free;
            let mut can = |step: NodeId, is_free| {
                let place = self.forest.place(step);
                let start = || Values::new(self.forest, free, place, is_free);
                let values = self.values.entry((step, is_free)).or_insert_with(start);
                values.value(term, 0).bounds.contains(outcome)
            };
            if let Some(&taken) = steps.iter().find(|&&step| !can(step, false)) {
                Rc::make_mut(&mut states).insert(*object, State::Holds);
                self.found.taken.entry(child).or_default().push(taken);
            } else if steps.iter().any(|&step| !can(step, true)) {
                let left = steps.iter().copied().filter(|&step| can(step, true));
                Rc::make_mut(&mut states).insert(*object, State::Tried(left.collect()));
            }
        }
        states
    }

    fn step(&mut self, (id, object): (NodeId, u64), what: Use, states: &mut States) {
        match (what, states.get(&object)) {
            (Use::Takes, Some(State::Holds)) | (Use::Leaves, _) => {}
            (Use::Takes, tried) => {
                let mut steps = match tried {
                    Some(State::Tried(steps)) => steps.clone(),
                    _ => Vec::new(),
                };
                steps.push(id);
                Rc::make_mut(states).insert(object, State::Tried(steps));
            }
            (Use::Frees, Some(State::Holds)) => {
                Rc::make_mut(states).remove(&object);
                self.found.gives.insert(id);
            }
            (Use::Frees, _) => self.found.bare.push(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::words;
    use crate::verify::by_hand::Do::{self, *};
    use crate::verify::by_hand::{WORD, forest};

    #[test]
    fn only_locks_are_taken_for_locks() {
        let proper: &[Do] = &[Cas(0, 1), If(0), Store(0)];
        type Row<'r> = (&'r str, bool, &'r [Do], &'r [Do], &'r [Do]);
        let rows: &[Row<'_>] = &[
            ("compare-exchange", true, &[], proper, &[]),
            ("exchange", true, &[], &[Swap(2), If(0), Swap(0)], &[]),
            (
                "tested roughly",
                false,
                &[],
                &[Swap(2), Below(1), Store(0)],
                &[],
            ),
            (
                "twice",
                true,
                &[],
                &[Cas(0, 1), If(0), Store(0), Cas(0, 3), If(0), Store(0)],
                &[],
            ),
            (
                "after a failure",
                true,
                &[],
                &[Cas(0, 1), Unless(0), Cas(0, 1), If(0), Store(0)],
                &[],
            ),
            (
                "a vain attempt inside",
                true,
                &[],
                &[Swap(1), If(0), Swap(1), Store(0)],
                &[],
            ),
            (
                "what is taken changes",
                true,
                &[],
                &[Swap(1), If(0), Cas(1, 2), Store(0)],
                &[],
            ),
            ("never given back", true, &[], &[Swap(1), If(0)], &[]),
            ("made free first", true, &[Store(0)], proper, &[]),
            ("used by main, too", true, proper, proper, proper),
            ("made free meanwhile", false, &[], proper, &[Store(0)]),
            ("not tested", false, &[], &[Cas(0, 1), Store(0)], &[]),
            (
                "tested the wrong way round",
                false,
                &[],
                &[Cas(0, 1), Unless(0), Store(0)],
                &[],
            ),
            (
                "tested badly",
                false,
                &[],
                &[Cas(0, 1), Below(2), Store(0)],
                &[],
            ),
            (
                "of an attempt before",
                false,
                &[],
                &[Swap(1), Unless(0), Swap(1), Store(0)],
                &[],
            ),
            (
                "given back twice",
                false,
                &[],
                &[Swap(1), If(0), Store(0), Store(0)],
                &[],
            ),
            (
                "stored",
                false,
                &[],
                &[Swap(1), If(0), Store(2), Store(0)],
                &[],
            ),
            (
                "free for some",
                false,
                &[],
                &[Swap(1), If(0), Cas(1, 0)],
                &[],
            ),
            ("a bit", false, &[], &[Or(2), If(0), Store(0)], &[]),
            (
                "without atomic access",
                false,
                &[],
                &[Store(1), Store(0)],
                &[],
            ),
        ];
        for (name, is_lock, before, thread, after) in rows {
            let forest = forest(before, &[proper, thread], after);
            let words = words(&forest);
            assert_eq!(words.free.contains_key(&WORD), *is_lock, "{name}");
            let gives = words.gives.len();
            assert!(if *is_lock { gives > 0 } else { gives == 0 }, "{name}");
        }
    }

    #[test]
    fn one_decision_can_tell_of_two_words() {
        let thread = [Swap(1), Next, Swap(1), IfBoth, Store(0)];
        let other = [Cas(0, 1), If(0), Store(0)];
        let words = words(&forest(&[], &[&thread, &other], &[]));
        assert_eq!(words.free.len(), 2);
        assert!(words.taken.values().any(|steps| steps.len() == 2));
    }
}
