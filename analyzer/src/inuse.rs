//! Synchronisation objects whose memory is written as variables are while they are in use: while a lock is
//! held, a routine of a once control runs, or a thread waits.
//!
//! What comes of that differs between C libraries, and POSIX leaves it open: an object is more than what its
//! operations tell (queues of those who wait lie in it, too). Whoever would prove something says so.

use raddle_protocol::Slot;
use raddle_protocol::conflict::{Footprint, Unrecorded, is_taken};
use raddle_protocol::event::{Event, Kind};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Why a verdict has a bound.
pub const WRITTEN: &str = "memory of a synchronisation object accessed while others use it";

/// Objects are smaller.
const LARGEST: u64 = 64;

/// The memory of the objects that an operation of this kind is about. `value`: of its record.
pub fn objects(kind: Kind, object: u64, value: u64) -> impl Iterator<Item = Range<u64>> {
    let kind = match kind {
        Kind::BarrierLeave => Kind::BarrierArrive,
        kind => kind,
    };
    let event = Event {
        kind: kind as u8,
        object,
        value,
        ..Event::default()
    };
    let footprint = kind
        .uses_object()
        .then(|| Footprint::of(&event, Unrecorded::default()));
    let parts = footprint.into_iter().flat_map(Footprint::memory);
    // A wait that ends does not name its mutex.
    parts.filter(|part| part.start != 0)
}

/// Is this an operation in which a thread may wait?
pub fn waits(kind: Kind) -> bool {
    use Kind::{BarrierLeave, CondLeave, CondWake, MutexLock, MutexTimedLock, OnceEnter};
    use Kind::{RwRead, RwWrite, SemTimedWait, SemWait};
    matches!(
        kind,
        MutexLock | MutexTimedLock | RwRead | RwWrite | SemWait | SemTimedWait
    ) || matches!(kind, OnceEnter | CondWake | CondLeave | BarrierLeave)
}

/// The memory that a step writes that is no operation on an object, whether what it writes was there before
/// or not.
pub fn written(event: &Event, kind: Kind) -> Option<Range<u64>> {
    let bytes = match kind {
        Kind::Write | Kind::AtomicWrite | Kind::Rmw => event.size.into(),
        Kind::WriteRange => event.value,
        Kind::Remap => {
            let footprint = Footprint::of(event, Unrecorded::default());
            return footprint.memory().next();
        }
        _ => return None,
    };
    Some(event.object..event.object.saturating_add(bytes))
}

/// Do these have a byte in common?
pub fn meet(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// What is held along an execution: locks, and once controls whose routine runs. (A wait for a condition is
/// taken to hold its mutex all the time.)
#[derive(Default)]
pub struct Held {
    /// Their memory, and how often.
    all: HashMap<u64, (Range<u64>, u32)>,
}

impl Held {
    /// The next step. `true`: it writes the memory of what is held.
    pub fn step(&mut self, event: &Event, kind: Kind) -> bool {
        use Kind::*;
        let takes = match kind {
            MutexLock | MutexTryLock | MutexTimedLock | SpinLock | SpinTryLock => true,
            RwRead | RwTryRead | RwWrite | RwTryWrite => true,
            OnceEnter => event.value == 1 && event.size == 0,
            _ => false,
        };
        if takes && (kind == OnceEnter || is_taken(event.value)) {
            for memory in objects(kind, event.object, event.value) {
                self.all.entry(event.object).or_insert((memory, 0)).1 += 1;
            }
            return false;
        }
        if let MutexUnlock | SpinUnlock | RwUnlock | OnceDone = kind {
            if let Entry::Occupied(mut held) = self.all.entry(event.object) {
                held.get_mut().1 -= 1;
                if held.get().1 == 0 {
                    held.remove();
                }
            }
            return false;
        }
        // What an initialisation does is known.
        let is_init =
            |memory: &Range<u64>, bytes: &Range<u64>| kind == WriteRange && memory == bytes;
        let is_over = |bytes: Range<u64>| {
            let mut held = self.all.values().map(|(memory, _)| memory);
            held.any(|memory| meet(memory, &bytes) && !is_init(memory, &bytes))
        };
        !self.all.is_empty() && written(event, kind).is_some_and(is_over)
    }
}

/// The memory of all objects.
pub struct Memory(BTreeMap<u64, u64>);

impl Memory {
    /// Of these.
    pub fn of(objects: impl Iterator<Item = Range<u64>>) -> Memory {
        Memory(objects.map(|object| (object.start, object.end)).collect())
    }

    /// Do these bytes belong to one of them?
    pub fn meets(&self, bytes: &Range<u64>) -> bool {
        let first = bytes.start.saturating_sub(LARGEST);
        let mut near = self.0.range(first..bytes.end.max(first));
        near.any(|(&start, &end)| meet(bytes, &(start..end)))
    }
}

/// A step of an execution, or what a thread has announced and not done.
pub struct Operation<'e> {
    pub thread: Slot,
    pub event: &'e Event,
    /// Its number among all steps; of what was announced, one past all.
    pub at: usize,
    /// The number of the step of the same thread before it.
    pub previous: Option<usize>,
}

/// Is the memory of an object written while the object is in use? A thread waits in an operation from its
/// step before on, which is no step of its own. `before`: the first of two steps, which comes first here,
/// does so in all executions that are meant.
pub fn is_written(all: &[Operation<'_>], before: impl Fn(usize, usize) -> bool) -> bool {
    let of_objects = |op: &Operation<'_>| {
        let kind = op.event.kind()?;
        Some(objects(kind, op.event.object, op.event.value))
    };
    let memory = Memory::of(all.iter().filter_map(of_objects).flatten());
    let mut held = Held::default();
    let mut writes: Vec<(&Operation<'_>, Range<u64>)> = Vec::new();
    for op in all {
        let Some(kind) = op.event.kind() else {
            continue;
        };
        if held.step(op.event, kind) {
            return true;
        }
        let bytes = written(op.event, kind).filter(|bytes| memory.meets(bytes));
        writes.extend(bytes.map(|bytes| (op, bytes)));
    }
    let while_it_waits = |op: &Operation<'_>, write: &Operation<'_>| {
        let arrived = |at: usize| write.at > at || !before(write.at, at);
        write.thread != op.thread && write.at < op.at && op.previous.is_none_or(arrived)
    };
    let is_over = |op: &Operation<'_>| {
        op.event.kind().is_some_and(waits)
            && of_objects(op).into_iter().flatten().any(|object| {
                let mut over = writes.iter().filter(|(_, bytes)| meet(bytes, &object));
                over.any(|(write, _)| while_it_waits(op, write))
            })
    };
    !writes.is_empty() && all.iter().any(is_over)
}

#[cfg(test)]
mod tests {
    use super::Held;
    use raddle_protocol::event::{Event, Kind};

    /// Kind, object, size, value; is it a write over what is held?
    type Step = (Kind, u64, u8, u64, bool);

    #[test]
    fn writes_over_what_is_held() {
        use Kind::*;
        let table: &[&[Step]] = &[
            &[
                (Write, 0x100, 4, 0, false),
                (MutexLock, 0x100, 0, 0, false),
                (Write, 0x100, 4, 0, true),
                (Write, 0x124, 4, 0, true),
                (Write, 0x128, 4, 0, false),
                (WriteRange, 0xf0, 0, 17, true),
                (WriteRange, 0x100, 0, 40, false),
                (MutexUnlock, 0x100, 0, 0, false),
                (Write, 0x100, 4, 0, false),
            ],
            &[
                (MutexTryLock, 0x100, 0, 16, false),
                (Write, 0x100, 4, 0, false),
            ],
            // Recursive.
            &[
                (MutexLock, 0x100, 0, 0, false),
                (MutexLock, 0x100, 0, 0, false),
                (MutexUnlock, 0x100, 0, 0, false),
                (Rmw, 0x100, 4, 0, true),
            ],
            &[
                (OnceEnter, 0x100, 0, 1, false),
                (Write, 0x100, 4, 0, true),
                (OnceDone, 0x100, 0, 0, false),
                (OnceEnter, 0x100, 0, 0, false),
                (Write, 0x100, 4, 0, false),
            ],
            // What is written to the guard of a static variable belongs to it.
            &[
                (OnceEnter, 0x100, Event::FOLLOWED_GUARD, 1, false),
                (AtomicWrite, 0x100, 1, 1, false),
            ],
        ];
        for steps in table {
            let mut held = Held::default();
            for &(kind, object, size, value, over) in *steps {
                let event = Event {
                    kind: kind as u8,
                    size,
                    object,
                    value,
                    ..Event::default()
                };
                assert_eq!(held.step(&event, kind), over, "{kind:?} {steps:?}");
            }
        }
    }
}
