//! Predecessor pairs of a trace: which statement met what another thread had left in an object.

use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use std::collections::{BTreeSet, HashMap};

/// Where an operation stands in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place {
    /// Return address of the call or hook.
    pub pc: u64,
    pub kind: Kind,
}

/// An operation and the last one before it of another thread on the same object that does not
/// commute with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    pub before: Place,
    pub after: Place,
}

/// The pairs of one execution (the predecessor sets of Yu and Narayanasamy, ISCA 2009, with
/// synchronisation operations beside reads and writes as in papers/hapset.txt, §3).
pub fn pairs(events: &[Event]) -> BTreeSet<Pair> {
    let mut found = BTreeSet::new();
    let mut objects: HashMap<u64, Accesses> = HashMap::new();
    for event in events {
        let Some(kind) = event.kind() else { continue };
        let Some(writes) = touches(kind) else {
            continue;
        };
        let here = (event.thread, Place { pc: event.pc, kind });
        let object = objects.entry(event.object).or_default();
        let mut met = |before: &(Slot, Place)| {
            if before.0 != here.0 {
                found.insert(Pair {
                    before: before.1,
                    after: here.1,
                });
            }
        };
        object.write.iter().for_each(&mut met);
        if writes {
            object.reads.drain(..).for_each(|read| met(&read));
            object.write = Some(here);
        } else {
            object.reads.retain(|read| read.0 != here.0);
            object.reads.push(here);
        }
    }
    found
}

/// The last operations on one object.
#[derive(Default)]
struct Accesses {
    write: Option<(Slot, Place)>,
    /// After the last write, one of each thread.
    reads: Vec<(Slot, Place)>,
}

/// Does an operation of this kind change its object? `None`: it has none that others share.
fn touches(kind: Kind) -> Option<bool> {
    use Kind::*;
    match kind {
        Read | AtomicRead | ReadRange | RwRead | RwTryRead | SemGetValue => Some(false),
        Write | AtomicWrite | WriteRange | Rmw | Free => Some(true),
        ThreadStart | ThreadExit | ThreadCreate | ThreadJoin | ThreadDetach | ThreadCancel => None,
        ProcessEnd | Yield | Sleep | SignalWait | SignalSend | Fence => None,
        _ if kind.is_step() => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::{MutexLock as Lock, MutexUnlock as Unlock, Read, Write, Yield};

    /// Events as (thread, kind, object, pc); pairs as (pc, pc).
    fn of(events: &[(Slot, Kind, u64, u64)]) -> Vec<(u64, u64)> {
        let event = |&(thread, kind, object, pc): &(Slot, Kind, u64, u64)| Event {
            kind: kind as u8,
            thread,
            object,
            pc,
            ..Event::default()
        };
        let events: Vec<Event> = events.iter().map(event).collect();
        let pairs = pairs(&events);
        pairs.iter().map(|p| (p.before.pc, p.after.pc)).collect()
    }

    #[test]
    fn small_traces() {
        type Row<'a> = (&'a [(Slot, Kind, u64, u64)], &'a [(u64, u64)]);
        let table: &[Row] = &[
            (&[], &[]),
            // The same thread, another object, two reads: nothing.
            (&[(1, Write, 8, 10), (1, Read, 8, 11)], &[]),
            (&[(1, Write, 8, 10), (2, Read, 9, 20)], &[]),
            (&[(1, Read, 8, 10), (2, Read, 8, 20)], &[]),
            // Write and read, read and write, write and write.
            (&[(1, Write, 8, 10), (2, Read, 8, 20)], &[(10, 20)]),
            (&[(1, Read, 8, 10), (2, Write, 8, 20)], &[(10, 20)]),
            (&[(1, Write, 8, 10), (2, Write, 8, 20)], &[(10, 20)]),
            // Only the last write counts, and every reader after it.
            (
                &[
                    (1, Write, 8, 10),
                    (2, Write, 8, 20),
                    (1, Read, 8, 11),
                    (3, Read, 8, 30),
                    (2, Write, 8, 21),
                ],
                &[(10, 20), (11, 21), (20, 11), (20, 30), (30, 21)],
            ),
            // A reader's own write hides the earlier one from it.
            (
                &[(1, Write, 8, 10), (2, Write, 8, 20), (2, Read, 8, 21)],
                &[(10, 20)],
            ),
            // Locks.
            (
                &[
                    (1, Lock, 8, 10),
                    (1, Unlock, 8, 11),
                    (2, Lock, 8, 20),
                    (2, Yield, 8, 21),
                ],
                &[(11, 20)],
            ),
        ];
        for (events, expected) in table {
            assert_eq!(of(events), *expected, "{events:?}");
        }
    }
}
