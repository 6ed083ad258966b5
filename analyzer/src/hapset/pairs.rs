//! Predecessor pairs: which event is immediately dependent upon which.

use super::operation::Operation;
use crate::fast::FastMap;
use raddle_protocol::Slot;

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
    for (i, operation) in operations.iter().enumerate() {
        let first = operation.object / WORD;
        let last = ((operation.end - 1) / WORD).min(first.saturating_add(WORDS));
        let known = pairs.len();
        for word in first..=last {
            let here = index.entry(word).or_default();
            let own = here.iter().filter(|o| o.thread == operation.thread);
            let own = own.filter(|o| operations[o.operation as usize].overlaps(operation));
            let since = own.map(|o| o.operation).max();
            for other in here.iter().filter(|o| o.thread != operation.thread) {
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
