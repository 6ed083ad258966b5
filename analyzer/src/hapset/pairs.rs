//! Predecessor pairs: which event is immediately dependent upon which.

use super::operation::Operation;
use crate::fast::FastMap;
use crate::stop;
use raddle_protocol::Slot;
use std::ops::RangeInclusive;

/// Bytes of one word of the index.
const WORD: u64 = 4;
/// Words of one operation that are looked at: of a long block only its start.
const WORDS: u64 = 64;
/// Threads whose last accesses to one word are remembered.
const THREADS: usize = 64;

/// Two operations, as indices: the second is immediately dependent upon the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    pub before: u32,
    pub after: u32,
}

/// The last operation of one thread on one object.
struct Last {
    thread: Slot,
    object: u64,
    operation: u32,
}

/// The predecessor pairs of an execution (definition 2 and Algorithm 1, `learnHaPSets`): for each
/// operation and each other thread, that thread's last operation on the same object, if the two
/// conflict and the operation's own thread did nothing to the object in between (as in the paper's
/// first example, where e2 keeps e1 out of the set of e3).
pub fn predecessors(operations: &[Operation]) -> Vec<Pair> {
    let mut index: FastMap<u64, Vec<Last>> = FastMap::default();
    let mut pairs = Vec::new();
    let owners = Owners::of(operations);
    for (i, operation) in operations.iter().enumerate() {
        stop::point();
        let known = pairs.len();
        for word in words(operation).filter(|&word| owners.has_several(word)) {
            stop::point();
            let here = index.entry(word).or_default();
            let own = here.iter().filter(|o| o.thread == operation.thread);
            let own = own.filter(|o| operations[o.operation as usize].overlaps(operation));
            let since = own.map(|o| o.operation).max();
            for other in here.iter().filter(|o| o.thread != operation.thread) {
                stop::point();
                if since.is_some_and(|own| own > other.operation) {
                    continue;
                }
                let before = &operations[other.operation as usize];
                let pair = Pair {
                    before: other.operation,
                    after: i as u32,
                };
                if before.conflicts(operation) && !pairs[known..].contains(&pair) {
                    pairs.push(pair);
                }
            }
            remember(here, operation, i as u32);
        }
    }
    pairs
}

/// The words of an operation that are looked at.
fn words(operation: &Operation) -> RangeInclusive<u64> {
    let first = operation.object / WORD;
    first..=((operation.end - 1) / WORD).min(first.saturating_add(WORDS))
}

/// Which thread alone has touched each line of memory. Most is touched by one thread, and large blocks,
/// which a thread frees by the thousand, have few lines and many words.
struct Owners(FastMap<u64, Option<Slot>>);

impl Owners {
    /// Words of one line.
    const LINE: u64 = 64;

    fn of(operations: &[Operation]) -> Owners {
        let mut owners: FastMap<u64, Option<Slot>> = FastMap::default();
        for operation in operations {
            let words = words(operation);
            for line in words.start() / Owners::LINE..=words.end() / Owners::LINE {
                let owner = owners.entry(line).or_insert(Some(operation.thread));
                if *owner != Some(operation.thread) {
                    *owner = None;
                }
            }
        }
        Owners(owners)
    }

    /// May several threads have touched this word?
    fn has_several(&self, word: u64) -> bool {
        self.0.get(&(word / Owners::LINE)) == Some(&None)
    }
}

fn remember(here: &mut Vec<Last>, operation: &Operation, index: u32) {
    let own = |l: &Last| l.thread == operation.thread && l.object == operation.object;
    match here.iter().position(own) {
        Some(at) => here[at].operation = index,
        None => {
            if here.len() == THREADS {
                here.remove(0);
            }
            here.push(Last {
                thread: operation.thread,
                object: operation.object,
                operation: index,
            });
        }
    }
}
