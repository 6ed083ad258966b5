//! Statements and the ordered pairs of them that are possible, tested, and promising.

use super::delays::Writers;
use super::order::Order;
use crate::fast::FastMap;
use crate::hapset::knowledge::{Code, Counted, Knowledge, Places, Statement};
use crate::hapset::operation::{Class, Operation};
use crate::hapset::pairs::Pair as Found;
use crate::stop;
use raddle_protocol::Slot;

/// Objects that one statement keeps apart; beyond, it is one statement for all others.
const OBJECTS: usize = 4;
/// Threads of one statement on one object that candidates are looked for among.
const EXAMPLES: usize = 4;
/// Looks at pairs of operations that one trace is worth.
const EFFORT: usize = 20_000;

/// A statement as far as steering tells them apart: a place in the program, what it does there,
/// and (for the first few) to which object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub pc: u64,
    pub kind: u8,
    pub class: Class,
    /// 0: any object.
    pub object: u64,
    /// One thread performed it at least twice in one execution.
    pub repeats: bool,
}

pub type StatementId = u32;

/// One operation as a constraint names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    pub thread: Slot,
    pub object: u64,
}

/// `first` before `then`, in another thread and on the same object.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    pub first: StatementId,
    pub then: StatementId,
    /// Executions in which it was a predecessor pair.
    pub seen: u32,
    /// An earlier run has seen it.
    pub known: bool,
    /// Executions that were to show it.
    pub tries: u32,
    /// How many of those showed any pair for the first time.
    pub gains: u32,
    pub first_example: Example,
    pub then_example: Example,
}

pub type PairId = u32;

/// All statements and pairs, numbered in the order in which they came up.
#[derive(Default)]
pub struct Table {
    pub statements: Vec<Spot>,
    pub pairs: Vec<Pair>,
    ids: FastMap<(u64, u8, u64), StatementId>,
    /// By pc and kind: objects that have statements of their own.
    objects: FastMap<(u64, u8), usize>,
    by_statements: FastMap<(StatementId, StatementId), PairId>,
    /// Which thread performs which statement on which object.
    doers: FastMap<(u64, StatementId, Slot), ()>,
    /// See [`Writers`].
    pub writers: Writers,
    known: Option<Known>,
}

/// What earlier runs have tested.
pub struct Known {
    pub knowledge: Knowledge,
    pub places: Box<dyn Places>,
}

impl Known {
    fn contains(&mut self, before: u64, after: u64) -> bool {
        let [before, after] = [before, after].map(|pc| Statement {
            place: self.places.line(pc),
            context: Vec::new(),
        });
        self.knowledge.contains(&before, &after)
    }
}

impl Table {
    /// What earlier runs have seen is tested.
    pub fn know(&mut self, known: Known) {
        self.known = Some(known);
    }

    /// The pairs that were seen, by addresses.
    pub fn counted(&self) -> Vec<Counted> {
        let code = |id: StatementId| Code {
            pc: self.statements[id as usize].pc,
            callers: Vec::new(),
        };
        let counted = |pair: &Pair| Counted {
            before: code(pair.first),
            after: code(pair.then),
            executions: u64::from(pair.seen),
        };
        let seen = self.pairs.iter().filter(|p| p.seen > 0);
        seen.map(counted).collect()
    }

    /// Has an earlier run seen this pair?
    pub fn is_known(&self, pair: (StatementId, StatementId)) -> bool {
        let id = self.by_statements.get(&pair);
        id.is_some_and(|&id| self.pairs[id as usize].known)
    }

    /// The statement of an operation.
    pub fn statement(&mut self, op: &Operation) -> StatementId {
        let kind = op.kind as u8;
        if let Some(&known) = self.ids.get(&(op.pc, kind, op.object)) {
            return known;
        }
        let objects = self.objects.entry((op.pc, kind)).or_default();
        let object = match *objects < OBJECTS {
            true => op.object,
            false => 0,
        };
        if let Some(&known) = self.ids.get(&(op.pc, kind, object)) {
            return known;
        }
        *objects += 1;
        let id = self.statements.len() as StatementId;
        self.statements.push(Spot {
            pc: op.pc,
            kind,
            class: op.class,
            object,
            repeats: false,
        });
        self.ids.insert((op.pc, kind, object), id);
        id
    }

    /// Takes in the operations of one execution, their statements and predecessor pairs. How many
    /// pairs were never seen before.
    pub fn learn(&mut self, ops: &[Operation], ids: &[StatementId], found: &[Found]) -> u32 {
        for (op, &id) in ops.iter().zip(ids) {
            stop::point();
            self.statements[id as usize].repeats |= op.nth > 1;
        }
        let mut news = 0;
        let mut counted: Vec<PairId> = Vec::new();
        for pair in found {
            stop::point();
            let (before, after) = (pair.before as usize, pair.after as usize);
            let id = self.pair(ids[before], ids[after], &ops[before], &ops[after]);
            counted.push(id);
        }
        counted.sort_unstable();
        counted.dedup();
        for id in counted {
            stop::point();
            let pair = &mut self.pairs[id as usize];
            news += u32::from(pair.seen == 0);
            pair.seen += 1;
        }
        news
    }

    fn pair(
        &mut self,
        first: StatementId,
        then: StatementId,
        a: &Operation,
        b: &Operation,
    ) -> PairId {
        let next = self.pairs.len() as PairId;
        let id = *self.by_statements.entry((first, then)).or_insert(next);
        if id == next {
            let example = |op: &Operation| Example {
                thread: op.thread,
                object: op.object,
            };
            let known = self.known.as_mut().is_some_and(|k| k.contains(a.pc, b.pc));
            self.pairs.push(Pair {
                first,
                then,
                seen: 0,
                known,
                tries: 0,
                gains: 0,
                first_example: example(a),
                then_example: example(b),
            });
        }
        id
    }

    /// Adds the pairs that the execution shows to be possible: conflicting operations of two
    /// threads that neither creation and join nor a common lock keeps in order.
    pub fn propose(&mut self, ops: &[Operation], ids: &[StatementId], order: &Order) {
        let mut new = false;
        for (op, &id) in ops.iter().zip(ids) {
            stop::point();
            if self.doers.insert((op.object, id, op.thread), ()).is_some() {
                continue;
            }
            new = true;
            if op.class == Class::Write {
                let writers = self.writers.entry(op.object / 8).or_default();
                writers.push((op.thread, id));
            }
        }
        if !new {
            return;
        }
        let mut effort = EFFORT;
        for group in by_object(ops, ids) {
            stop::point();
            for &a in &group {
                stop::point();
                for &b in &group {
                    stop::point();
                    effort = effort.saturating_sub(1);
                    if effort == 0 {
                        return;
                    }
                    let (x, y) = (&ops[a as usize], &ops[b as usize]);
                    if x.thread == y.thread || !x.conflicts(y) || x.locks & y.locks != 0 {
                        continue;
                    }
                    if !order.is_certain(y, x) {
                        self.pair(ids[a as usize], ids[b as usize], x, y);
                    }
                }
            }
        }
    }
}

/// Per object some operations of each statement: of different threads, and the first and the last
/// of each.
fn by_object(ops: &[Operation], ids: &[StatementId]) -> Vec<Vec<u32>> {
    let mut groups: Vec<Vec<u32>> = Vec::new();
    let mut at: FastMap<u64, usize> = FastMap::default();
    let mut last: FastMap<(u64, StatementId, Slot), usize> = FastMap::default();
    let mut threads: FastMap<(u64, StatementId), usize> = FastMap::default();
    for (i, (op, &id)) in ops.iter().zip(ids).enumerate() {
        stop::point();
        let word = op.object / 8;
        let next = groups.len();
        let group = *at.entry(word).or_insert(next);
        if group == next {
            groups.push(Vec::new());
        }
        if let Some(&place) = last.get(&(word, id, op.thread)) {
            groups[group][place] = i as u32;
            continue;
        }
        let seen = threads.entry((word, id)).or_default();
        if *seen < EXAMPLES {
            *seen += 1;
            groups[group].push(i as u32);
            last.insert((word, id, op.thread), groups[group].len());
            groups[group].push(i as u32);
        }
    }
    groups
}
