//! Predecessor pairs: which event is immediately dependent upon which.

use super::operation::Operation;
use raddle_protocol::Slot;
use std::collections::HashMap;

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
/// conflict.
pub fn predecessors(operations: &[Operation]) -> Vec<Pair> {
    let mut index: HashMap<u64, Vec<Last>> = HashMap::new();
    let mut pairs = Vec::new();
    for (i, operation) in operations.iter().enumerate() {
        let first = operation.object / WORD;
        let last = ((operation.end - 1) / WORD).min(first.saturating_add(WORDS));
        let known = pairs.len();
        for word in first..=last {
            let here = index.entry(word).or_default();
            for other in here.iter().filter(|o| o.thread != operation.thread) {
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
