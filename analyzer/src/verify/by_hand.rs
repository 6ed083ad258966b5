//! Forests that tests write by hand: what threads do with a word of memory.

use super::forest::{Action, Forest, NodeId, What};
use super::terms::{Term, TermId};
use raddle_protocol::event::Kind;
use raddle_protocol::expr::{Op, Why};
use std::collections::BTreeSet;

/// The first word; at first it is 0, and so is the next one.
pub const WORD: u64 = 0x1000;

/// What a thread does with the word; comparisons are of what it read last.
#[derive(Clone, Copy)]
pub enum Do {
    Swap(u64),
    Cas(u64, u64),
    /// Sets bits.
    Or(u64),
    Store(u64),
    Add(u64),
    Read,
    /// Goes on where the word was this,
    If(u64),
    /// another,
    Unless(u64),
    /// or less,
    Below(u64),
    /// or where this word and the one before were both zero.
    IfBoth,
    /// Goes over to the next word.
    Next,
}
use Do::*;

struct Writer {
    forest: Forest,
    at: NodeId,
    word: u64,
    reads: Vec<TermId>,
}

impl Writer {
    fn op(&mut self, op: Op, width: u8, args: [TermId; 3]) -> TermId {
        let term = self.forest.terms.apply(op, width, 0, args);
        term.expect("the widths fit")
    }

    fn access(&mut self, kind: Kind, term: Option<TermId>) {
        let action = Action {
            kind,
            size: 4,
            object: self.word,
            value: 0,
            term,
        };
        self.fill(What::Step(action), 0);
    }

    fn fill(&mut self, what: What, outcome: u64) {
        assert!(self.forest.fill(self.at, what, 1));
        self.at = self.forest.advance(self.at, outcome);
    }

    fn compare(&mut self, op: Op, read: usize, value: u64) -> TermId {
        let other = self.forest.terms.constant(32, value);
        self.op(op, 1, [self.reads[self.reads.len() - read], other, 0])
    }

    fn decide(&mut self, op: Op, value: u64) {
        let term = self.compare(op, 1, value);
        self.fill(What::Decide(term, Why::Branch), 1);
    }

    fn act(&mut self, what: Do) {
        let place = self.forest.place(self.at);
        let read = self.forest.terms.id(Term::Read { place, width: 32 });
        let mut constant = |n| self.forest.terms.constant(32, n);
        match what {
            Store(value) => {
                let value = constant(value);
                return self.access(Kind::AtomicWrite, Some(value));
            }
            If(value) => return self.decide(Op::Eq, value),
            Unless(value) => return self.decide(Op::Ne, value),
            Below(value) => return self.decide(Op::Ult, value),
            IfBoth => {
                let [a, b] = [2, 1].map(|n| self.compare(Op::Eq, n, 0));
                let both = self.op(Op::And, 1, [a, b, 0]);
                return self.fill(What::Decide(both, Why::Branch), 1);
            }
            Next => return self.word += 4,
            Read => {
                self.reads.push(read);
                return self.access(Kind::AtomicRead, None);
            }
            _ => self.reads.push(read),
        }
        let new = match what {
            Cas(expected, value) => {
                let (expected, value) = (constant(expected), constant(value));
                let same = self.op(Op::Eq, 1, [read, expected, 0]);
                self.op(Op::Ite, 32, [same, value, read])
            }
            Or(bits) => {
                let bits = constant(bits);
                self.op(Op::Or, 32, [read, bits, 0])
            }
            Add(by) => {
                let by = constant(by);
                self.op(Op::Add, 32, [read, by, 0])
            }
            Swap(value) => constant(value),
            _ => return,
        };
        self.access(Kind::Rmw, Some(new));
    }
}

/// Main does something before it creates the threads, and afterwards.
pub fn forest(before: &[Do], threads: &[&[Do]], after: &[Do]) -> Forest {
    let mut writer = Writer {
        forest: Forest::new(),
        at: 0,
        word: WORD,
        reads: Vec::new(),
    };
    let bytes = (WORD..WORD + 8).map(|at| (at, BTreeSet::from([0])));
    writer.forest.init.extend(bytes);
    before.iter().for_each(|&d| writer.act(d));
    let mut roots = Vec::new();
    for slot in 1..=threads.len() {
        let create = Action {
            kind: Kind::ThreadCreate,
            size: 0,
            object: 0,
            value: slot as u64,
            term: None,
        };
        let here = writer.at;
        writer.fill(What::Step(create), 0);
        let tree = (writer.forest).plant(Some(here), slot as u16, What::Open, 0);
        roots.push(writer.forest.tree(tree).root);
    }
    after.iter().for_each(|&d| writer.act(d));
    for (root, thread) in roots.into_iter().zip(threads) {
        (writer.at, writer.word) = (root, WORD);
        thread.iter().for_each(|&d| writer.act(d));
    }
    writer.forest
}
