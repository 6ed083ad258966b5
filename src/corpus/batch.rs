//! What was learnt since the last transaction.

use super::write::NewFinding;
use raddle_analyzer::hapset::operation::operations;
use raddle_analyzer::hapset::pairs::predecessors;
use raddle_protocol::event::Event;
use raddle_protocol::schedule::Step;
use raddle_protocol::trace::Trace;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Executions that are not in the database yet.
#[derive(Debug, Default)]
pub struct Batch {
    pub executions: u64,
    /// Of those, looked at for pairs.
    pub recorded: u64,
    /// Interleavings, by their hash: how often each was taken.
    pub schedules: HashMap<u64, u64>,
    pub pairs: HashMap<Pair, PairSeen>,
    /// Findings seen again, by fingerprint: how often.
    pub sightings: HashMap<String, u64>,
    /// New ones.
    pub findings: Vec<NewFinding>,
}

/// A predecessor pair ([`raddle_analyzer::hapset`]) by return addresses: earlier, later.
pub type Pair = (u64, u64);

/// The pairs of an execution.
fn pairs(events: &[Event]) -> HashSet<Pair> {
    let operations = operations(events);
    let pc = |index: u32| operations[index as usize].pc;
    let pairs = predecessors(&operations).into_iter();
    pairs
        .map(|pair| (pc(pair.before), pc(pair.after)))
        .collect()
}

/// How often a pair was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSeen {
    /// In so many recorded executions.
    pub times: u64,
    /// First in this execution of the batch, from 1.
    pub first: u64,
}

impl Batch {
    /// Counts an execution. `look`: its events, if it has any, are looked at.
    pub fn add(&mut self, trace: &Trace, look: bool) {
        self.executions += 1;
        *self
            .schedules
            .entry(schedule_hash(&trace.taken))
            .or_default() += 1;
        if !look || trace.events.is_empty() {
            return;
        }
        self.recorded += 1;
        let fresh = PairSeen {
            times: 0,
            first: self.executions,
        };
        for pair in pairs(&trace.events) {
            self.pairs.entry(pair).or_insert(fresh).times += 1;
        }
    }

    /// Takes back what could not be written; `self` is what came later.
    pub fn put_back(&mut self, earlier: Batch) {
        let later = std::mem::replace(self, earlier);
        for (pair, seen) in later.pairs {
            let kept = self.pairs.entry(pair).or_insert(PairSeen {
                times: 0,
                first: self.executions + seen.first,
            });
            kept.times += seen.times;
        }
        self.executions += later.executions;
        self.recorded += later.recorded;
        for (hash, times) in later.schedules {
            *self.schedules.entry(hash).or_default() += times;
        }
        for (fingerprint, times) in later.sightings {
            *self.sightings.entry(fingerprint).or_default() += times;
        }
        self.findings.extend(later.findings);
    }
}

/// A name for an interleaving of one program. `DefaultHasher::new()` has fixed keys; the name need
/// not outlast this version of raddle, whose identity is part of a test's.
pub fn schedule_hash(taken: &[Step]) -> u64 {
    let mut hasher = DefaultHasher::new();
    taken.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn batch(executions: u64, pair: u64, first: u64) -> Batch {
        Batch {
            executions,
            recorded: executions,
            schedules: HashMap::from([(7, executions)]),
            pairs: HashMap::from([((pair, 1), PairSeen { times: 1, first })]),
            sightings: HashMap::from([("f".to_string(), 2)]),
            findings: Vec::new(),
        }
    }

    #[test]
    fn a_batch_that_was_not_written_comes_before_what_followed() {
        let mut later = batch(5, 1, 4);
        later.pairs.extend(batch(0, 2, 3).pairs);
        later.put_back(batch(10, 1, 9));
        assert_eq!((later.executions, later.recorded), (15, 15));
        assert_eq!(later.schedules[&7], 15);
        assert_eq!(later.sightings["f"], 4);
        let mut seen: Vec<(u64, PairSeen)> = later.pairs.iter().map(|(p, s)| (p.0, *s)).collect();
        seen.sort_by_key(|s| s.0);
        let at = |times, first| PairSeen { times, first };
        assert_eq!(seen, [(1, at(2, 9)), (2, at(1, 13))]);
    }
}
