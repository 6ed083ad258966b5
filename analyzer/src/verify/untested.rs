//! Which frontiers are worth most: those behind a predecessor pair that no execution has shown.
//!
//! A frontier is of a thread, and its question says which writes of others the thread has read from
//! on its way there. A pair of a write and a read of another thread, as statements, is tested once an
//! execution had the one as the predecessor of the other (papers/hapset.txt, definition 2). What lies
//! behind an untested one is asked for first; it is an order of questions and leaves nothing out.

use super::circuit::{Bool, all, any};
use super::forest::What;
use super::formula::{Formula, Target};
use super::places::Place;
use super::terms::{Term, TermId};
use crate::hapset::operation::operations;
use crate::hapset::pairs::predecessors;
use raddle_protocol::event::Event;
use std::collections::{BTreeMap, HashSet};

/// Statements of which one was the predecessor of the other.
#[derive(Debug, Default)]
pub struct Tested {
    pairs: HashSet<(u64, u64)>,
}

impl Tested {
    /// Takes in the pairs of an execution.
    pub fn learn(&mut self, events: &[Event]) {
        let operations = operations(events);
        let pc = |n: u32| operations[n as usize].pc;
        let pairs = predecessors(&operations).into_iter();
        self.pairs
            .extend(pairs.map(|p| (pc(p.before), pc(p.after))));
    }

    pub fn contains(&self, before: u64, after: u64) -> bool {
        self.pairs.contains(&(before, after))
    }
}

/// Is what is behind untested pairs asked for in this question, counted from 1? In the third, the
/// sixth, the twelfth, ...: a new pair is worth most early, and an execution for its sake shows less
/// else than one for all frontiers together. (Programs of tests/paper.rs with a bug: 319 executions
/// without, 331 to 308 when it is asked for in each question, which also takes figure 2 of
/// papers/mpc.txt from 22 to 34, and 302 so.)
pub fn is_due(decisions: u64) -> bool {
    decisions.is_multiple_of(3) && (decisions / 3).is_power_of_two()
}

/// One of these is reached whose value comes from a read that has an untested predecessor. `None`:
/// there are no such reads.
pub fn behind(formula: &Formula<'_>, targets: &[&Target]) -> Option<Bool> {
    let mut ways: BTreeMap<Place, Vec<Bool>> = BTreeMap::new();
    for (read, way) in &formula.untested {
        let found = all(&[formula.executed(*read), way.clone()]);
        let place = formula.forest.place(*read);
        ways.entry(place).or_default().push(found);
    }
    if ways.is_empty() {
        return None;
    }
    let terms = &formula.forest.terms;
    // Terms come after those that they are made of.
    let mut under: Vec<Option<Bool>> = Vec::with_capacity(terms.len());
    for id in 0..terms.len() as TermId {
        let parts: Vec<Bool> = match terms.get(id) {
            Term::Read { place, .. } => ways.get(&place).cloned().unwrap_or_default(),
            Term::Op { args, .. } => {
                let parts = args
                    .iter()
                    .filter_map(|&arg| under.get(arg as usize)?.clone());
                parts.collect()
            }
            Term::Const { .. } | Term::Input { .. } => Vec::new(),
        };
        under.push((!parts.is_empty()).then(|| any(&parts)));
    }
    let of = |target: &&Target| {
        let What::Decide(term, _) = formula.forest.node(target.node).what else {
            return None;
        };
        let way = under[term as usize].clone()?;
        Some(all(&[target.condition.clone(), way]))
    };
    let reached: Vec<Bool> = targets.iter().filter_map(of).collect();
    (!reached.is_empty()).then(|| any(&reached))
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_protocol::event::Kind;

    fn access(thread: u16, kind: Kind, pc: u64) -> Event {
        Event {
            thread,
            kind: kind as u8,
            size: 4,
            object: 0x1000,
            pc,
            ..Event::default()
        }
    }

    #[test]
    fn a_pair_is_of_two_threads_and_has_an_order() {
        let mut tested = Tested::default();
        tested.learn(&[
            access(1, Kind::Read, 11),
            access(1, Kind::Write, 10),
            access(2, Kind::Read, 20),
        ]);
        let seen = [(10, 20), (20, 10), (11, 10), (11, 20)];
        let seen = seen.map(|(before, after)| tested.contains(before, after));
        assert_eq!(seen, [true, false, false, false]);
    }

    #[test]
    fn it_is_asked_ever_more_rarely() {
        let due: Vec<u64> = (1..50).filter(|&n| is_due(n)).collect();
        assert_eq!(due, [3, 6, 12, 24, 48]);
    }
}
