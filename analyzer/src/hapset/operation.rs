//! What in a trace counts for predecessor sets: accesses, and operations that synchronise.

use crate::fast::FastMap;
use crate::stop;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::uses::Uses;

/// What an operation does to its object, as far as its order with others matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    Read,
    Write,
    /// Takes a lock; or prepares or destroys one.
    Acquire,
    /// Takes a lock that others may have too.
    Share,
    /// Waits for a notification.
    Wait,
    Notify,
    /// Takes from a semaphore.
    Take,
    Put,
    /// Anything else that is done to an object.
    Access,
}

impl Class {
    /// `None`: the order of such events is of no interest. Unlocking is among them ("we ignore
    /// unlock statements when computing HaPSets", section 3.1), as are creation and join.
    pub fn of(kind: Kind) -> Option<Class> {
        Some(match kind {
            Kind::Read | Kind::AtomicRead | Kind::ReadRange => Class::Read,
            Kind::Write
            | Kind::AtomicWrite
            | Kind::Rmw
            | Kind::WriteRange
            | Kind::Free
            | Kind::Remap => Class::Write,
            Kind::MutexLock
            | Kind::MutexTryLock
            | Kind::MutexTimedLock
            | Kind::MutexInit
            | Kind::MutexDestroy
            | Kind::RwWrite
            | Kind::RwTryWrite
            | Kind::RwDestroy
            | Kind::SpinLock
            | Kind::SpinTryLock
            | Kind::SpinDestroy
            | Kind::OnceEnter
            | Kind::BarrierArrive
            | Kind::BarrierDestroy => Class::Acquire,
            Kind::RwRead | Kind::RwTryRead => Class::Share,
            Kind::CondWait | Kind::FutexWait => Class::Wait,
            Kind::CondSignal | Kind::CondBroadcast | Kind::CondDestroy | Kind::FutexWake => {
                Class::Notify
            }
            Kind::SemWait | Kind::SemTryWait | Kind::SemTimedWait | Kind::SemDestroy => Class::Take,
            Kind::SemPost => Class::Put,
            Kind::ThreadStart
            | Kind::ThreadExit
            | Kind::ThreadLeave
            | Kind::ThreadCreate
            | Kind::ThreadJoin
            | Kind::ThreadTryJoin
            | Kind::ThreadTimedJoin
            | Kind::ThreadDetach
            | Kind::ThreadCancel
            | Kind::Cancelled
            | Kind::CancellationPoint
            | Kind::ProcessEnd
            | Kind::Ask
            | Kind::MutexUnlock
            | Kind::CondWake
            | Kind::CondLeave
            | Kind::RwUnlock
            | Kind::RwQueue
            | Kind::BarrierLeave
            | Kind::SemGetValue
            | Kind::SpinUnlock
            | Kind::OnceDone
            | Kind::FutexResume
            | Kind::Yield
            | Kind::Sleep
            | Kind::Return
            | Kind::Fence => return None,
            _ if kind.is_step() => Class::Access,
            _ => return None,
        })
    }

    /// Is it an access to memory?
    pub fn is_memory(self) -> bool {
        matches!(self, Class::Read | Class::Write)
    }

    /// Are two operations of these classes on the same object in conflict (Algorithm 1: read and
    /// write, write and write, lock and lock, wait and notify)?
    pub fn conflicts(self, other: Class) -> bool {
        use Class::*;
        matches!(
            (self, other),
            (Read, Write)
                | (Write, Read | Write)
                | (Acquire, Acquire | Share)
                | (Share, Acquire)
                | (Wait, Notify)
                | (Notify, Wait)
                | (Take, Take | Put)
                | (Put, Take)
                | (Access, Access)
        )
    }
}

/// One event that counts.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    pub thread: Slot,
    pub class: Class,
    pub kind: Kind,
    /// The first byte of the object, and one past the last that matters.
    pub object: u64,
    pub end: u64,
    pub pc: u64,
    /// Its index among the events.
    pub event: u32,
    /// How many steps there were before it.
    pub step: u32,
    /// It is the so-many-th of its thread at this pc, of this kind and on this object, from 1.
    pub nth: u32,
    /// Locks that its thread holds, one bit each (the first 64 locks of the execution).
    pub locks: u64,
}

impl Operation {
    /// Do the two touch the same object in ways whose order matters? (Their threads do not count.)
    pub fn conflicts(&self, other: &Operation) -> bool {
        self.class.conflicts(other.class) && self.overlaps(other)
    }

    /// One that was announced and did not happen, as far as its object goes.
    pub fn announced(event: &Event) -> Option<Operation> {
        let kind = event.kind()?;
        let class = Class::of(kind).filter(|_| event.object != 0)?;
        let bytes = match kind {
            Kind::ReadRange | Kind::WriteRange | Kind::Free | Kind::StateUse => event.value,
            Kind::Remap => Uses::of_pages(event.value).0,
            _ if class.is_memory() => u64::from(event.size),
            _ => 1,
        };
        Some(Operation {
            thread: event.thread,
            class,
            kind,
            object: event.object,
            end: event.object.saturating_add(bytes.max(1)),
            pc: event.pc,
            event: 0,
            step: 0,
            nth: 0,
            locks: 0,
        })
    }

    fn uses(&self) -> Option<Uses> {
        let value = self.end - self.object;
        (self.kind == Kind::StateUse).then(|| Uses::of_record(self.object, value))
    }

    /// Do the two touch the same object?
    pub fn overlaps(&self, other: &Operation) -> bool {
        if let (Some(mine), Some(its)) = (self.uses(), other.uses()) {
            return mine.conflicts(its);
        }
        self.object < other.end && other.object < self.end
    }
}

/// The operations of an execution, in order.
pub fn operations(events: &[Event]) -> Vec<Operation> {
    let mut walk = Walk::default();
    let mut found = Vec::new();
    for (index, event) in events.iter().enumerate() {
        stop::point();
        let Some(kind) = event.kind().filter(|k| k.is_step()) else {
            continue;
        };
        if let Some(operation) = Operation::announced(event) {
            found.push(walk.performed(index, event, operation));
        }
        walk.locks(event, kind);
        walk.step += 1;
    }
    found
}

/// What must be known of the events before.
#[derive(Default)]
struct Walk {
    step: u32,
    counts: FastMap<(Slot, u64, u64, u8), u32>,
    bits: FastMap<u64, u64>,
    held: FastMap<Slot, u64>,
    /// The mutex of the condition that a thread waits for.
    waits: FastMap<Slot, u64>,
}

impl Walk {
    fn performed(&mut self, index: usize, event: &Event, operation: Operation) -> Operation {
        let key = (event.thread, event.pc, event.object, event.kind);
        let nth = self.counts.entry(key).or_default();
        *nth += 1;
        Operation {
            event: index as u32,
            step: self.step,
            nth: *nth,
            locks: self.held.get(&event.thread).copied().unwrap_or(0),
            ..operation
        }
    }

    /// Keeps the sets of locks.
    fn locks(&mut self, event: &Event, kind: Kind) {
        let (thread, object) = (event.thread, event.object);
        match kind {
            Kind::MutexLock | Kind::SpinLock | Kind::RwWrite => self.hold(thread, object, true),
            Kind::MutexTryLock | Kind::MutexTimedLock | Kind::SpinTryLock | Kind::RwTryWrite
                if event.value == 0 =>
            {
                self.hold(thread, object, true);
            }
            Kind::MutexUnlock | Kind::SpinUnlock | Kind::RwUnlock => {
                self.hold(thread, object, false);
            }
            Kind::CondWait => {
                self.waits.insert(thread, event.value);
                self.hold(thread, event.value, false);
            }
            Kind::CondWake => {
                if let Some(mutex) = self.waits.remove(&thread) {
                    self.hold(thread, mutex, true);
                }
            }
            _ => {}
        }
    }

    fn hold(&mut self, thread: Slot, lock: u64, holds: bool) {
        let next = self.bits.len() as u32;
        let bit = *self
            .bits
            .entry(lock)
            .or_insert_with(|| 1u64.checked_shl(next).unwrap_or(0));
        let held = self.held.entry(thread).or_default();
        match holds {
            true => *held |= bit,
            false => *held &= !bit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: Kind, thread: Slot, object: u64, pc: u64) -> Event {
        Event {
            kind: kind as u8,
            size: 4,
            thread,
            object,
            pc,
            ..Event::default()
        }
    }

    #[test]
    fn conflicts_are_those_of_the_paper() {
        use Class::*;
        let all = [Read, Write, Acquire, Share, Wait, Notify, Take, Put, Access];
        let yes = [
            (Read, Write),
            (Write, Write),
            (Acquire, Acquire),
            (Acquire, Share),
            (Wait, Notify),
            (Take, Take),
            (Take, Put),
            (Access, Access),
        ];
        for a in all {
            for b in all {
                let expected = yes.contains(&(a, b)) || yes.contains(&(b, a));
                assert_eq!(a.conflicts(b), expected, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn operations_know_their_number_their_step_and_their_locks() {
        let events = [
            event(Kind::Enabled, 0, 1, 0),
            event(Kind::MutexLock, 1, 16, 100),
            event(Kind::Write, 1, 32, 101),
            event(Kind::Write, 1, 32, 101),
            Event {
                value: 16,
                ..event(Kind::CondWait, 1, 64, 102)
            },
            event(Kind::Read, 1, 34, 103),
            event(Kind::CondWake, 1, 64, 102),
            event(Kind::Read, 1, 36, 104),
            event(Kind::MutexUnlock, 1, 16, 105),
            event(Kind::Yield, 1, 0, 106),
        ];
        let found = operations(&events);
        let seen: Vec<_> = found.iter().map(|o| (o.step, o.nth, o.locks)).collect();
        assert_eq!(
            seen,
            [
                (0, 1, 0),
                (1, 1, 1),
                (2, 2, 1),
                (3, 1, 1),
                (4, 1, 0),
                (6, 1, 1)
            ]
        );
        assert!(found[1].conflicts(&found[4]), "bytes 32..36 and 34..38");
        assert!(!found[1].conflicts(&found[5]));
    }

    /// Whatever bytes come: no panic, and steps in order.
    #[test]
    fn arbitrary_records_are_survived() {
        let mut seed = 1;
        let mut next = || {
            seed = crate::sampling::seed_of(seed, 1);
            seed
        };
        for _ in 0..200 {
            let events: Vec<Event> = (0..50)
                .map(|_| Event {
                    kind: next() as u8,
                    size: next() as u8,
                    thread: next() as Slot,
                    aux: next() as u32,
                    object: next() >> (next() % 64),
                    value: next(),
                    pc: next(),
                })
                .collect();
            let found = operations(&events);
            assert!(found.windows(2).all(|w| w[0].step < w[1].step));
        }
    }
}
