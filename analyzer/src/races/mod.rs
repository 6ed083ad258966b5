//! Data races of one execution: two accesses of the same memory by different threads, at least one
//! a write and at least one not atomic, neither of which happens before the other (C11, 5.1.2.4,
//! paragraph 25).
//!
//! Happens-before is computed by vector clocks over the trace ([`order`]), the accesses are kept
//! per byte as in FastTrack (Flanagan and Freund, PLDI 2009; [`shadow`]). The judgement is exact for
//! the operations that are in the trace: an access is reported if and only if an earlier one races
//! with it. Accesses in code that is not instrumented are not in the trace; where such code may have
//! ordered threads (a futex, an atomic that changed although nobody was seen to write it, inline
//! assembly) the order is taken for granted, so that no race is invented.
//!
//! Beginnings and ends of synchronisation objects and descriptors race with their uses in the same
//! way ([`objects`]). Nothing is taken for granted there: where code without instrumentation is
//! involved, or a descriptor, two operations are a race only if they were seen in both orders
//! ([`crate::direct`]).

mod atomics;
pub(crate) mod clock;
pub(crate) mod objects;
pub(crate) mod order;
mod shadow;

use crate::stop;
use order::Order;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use shadow::{Shadow, Touch};
use std::collections::HashSet;

/// One of two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Index of the event.
    pub event: usize,
    pub thread: Slot,
    /// A read, a write, [`Kind::Malloc`] or [`Kind::Free`].
    pub kind: Kind,
    pub pc: u64,
    pub write: bool,
    pub atomic: bool,
}

/// What a race is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    Memory,
    /// A synchronisation object: its beginning or end, and another operation on it.
    Object,
    /// A descriptor: its end, and another operation on it.
    Descriptor,
}

/// Two accesses that race, in the order of the execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Race {
    pub first: Access,
    pub second: Access,
    /// A byte that both touch; the object; the descriptor.
    pub address: u64,
    pub subject: Subject,
}

impl Race {
    /// The same for races between the same two instructions, whoever came first.
    pub fn key(&self) -> (u64, u64) {
        let (a, b) = (self.first.pc, self.second.pc);
        (a.min(b), a.max(b))
    }
}

/// The races of an execution, one for each pair of instructions, in the order of the second
/// access.
pub fn distinct(events: &[Event]) -> Vec<Race> {
    let mut seen = HashSet::new();
    let mut races = Vec::new();
    let mut add = |race: Race| {
        if seen.insert(race.key()) {
            races.push(race);
        }
    };
    each(events, &mut add);
    objects::descriptors(events, &mut add);
    races
}

/// Calls `found` for every racing access with the last access of each thread that races with it.
pub fn each(events: &[Event], mut found: impl FnMut(Race)) {
    let mut order = Order::default();
    let (mut shadow, mut objects) = (Shadow::default(), Shadow::default());
    for (index, event) in events.iter().enumerate() {
        stop::point();
        let Some(kind) = event.kind() else { continue };
        let Some((from, to)) = span(kind, event) else {
            if let Some(write) = objects::begins_or_ends(kind) {
                let address = event.object.min(HIGHEST);
                let operation = objects::Operation {
                    event: index,
                    write,
                    place: address,
                };
                let shadow = &mut objects;
                objects::operate(events, &mut order, shadow, operation, |first, second| {
                    found(Race {
                        first,
                        second,
                        address,
                        subject: Subject::Object,
                    });
                });
            }
            order.take_in(kind, event);
            continue;
        };
        if matches!(kind, Kind::Malloc | Kind::Mapped) {
            objects.forget(from, to);
        }
        if kind == Kind::Mapped {
            shadow.forget(from, to);
            order.renewed(from, to);
            continue;
        }
        let me = order.number(event.thread);
        let manner = match kind {
            Kind::Malloc | Kind::Free => order::Manner {
                write: true,
                atomic: false,
            },
            Kind::ThreadCreate => {
                let name = Event {
                    value: Event::THREAD_NAME,
                    ..*event
                };
                order.access(Kind::WriteRange, me, &name)
            }
            _ => order.access(kind, me, event),
        };
        let clock = order.clock(me);
        let touch = Touch {
            thread: me,
            time: clock.of(me),
            event: index as u32,
            write: manner.write,
            atomic: manner.atomic,
        };
        let ordered = |old: &Touch| clock.of(old.thread) >= old.time;
        let mut race = |old: &Touch, address: u64| {
            let race = Race {
                first: access_of(events, old),
                second: access_of(events, &touch),
                address,
                subject: Subject::Memory,
            };
            if race.first.is_seen() || race.second.is_seen() {
                found(race);
            }
        };
        match kind {
            Kind::Malloc => {
                shadow.allocated(from, to, touch);
                order.renewed(from, to);
            }
            Kind::Free => {
                shadow.freed(from, to, touch, &ordered, &mut race);
                objects.freed(from, to, touch, &ordered, &mut |old, address| {
                    found(Race {
                        first: access_of(events, old),
                        second: access_of(events, &touch),
                        address,
                        subject: Subject::Object,
                    });
                });
            }
            _ => shadow.access((from, to), touch, &ordered, &mut race),
        }
        order.accessed(kind, me);
        // The thread begins when its name is there.
        if kind == Kind::ThreadCreate {
            order.take_in(kind, event);
        }
    }
}

impl Access {
    /// Was it made by code with hooks? Blocks are allocated and freed by any code, and what keeps
    /// them in order (a count of references, say) may be in code without.
    fn is_seen(&self) -> bool {
        !matches!(self.kind, Kind::Malloc | Kind::Free)
    }
}

fn access_of(events: &[Event], touch: &Touch) -> Access {
    let event = &events[touch.event as usize];
    Access {
        event: touch.event as usize,
        thread: event.thread,
        kind: event.kind().unwrap_or(Kind::Read),
        pc: event.pc,
        write: touch.write,
        atomic: touch.atomic,
    }
}

/// No address of a program is higher; what a record says of such is not believed.
const HIGHEST: u64 = 1 << 56;
/// No block is larger.
const LARGEST: u64 = 1 << 40;
/// Of a longer range the first bytes stand for all.
const LONGEST_RANGE: u64 = 1 << 20;

/// The memory that an event of this kind touches.
fn span(kind: Kind, event: &Event) -> Option<(u64, u64)> {
    let size = match kind {
        Kind::Read if event.aux == Event::UNSURE => return None,
        Kind::Read | Kind::Write | Kind::AtomicRead | Kind::AtomicWrite | Kind::Rmw => {
            u64::from(event.size)
        }
        Kind::ReadRange | Kind::WriteRange if event.size == Event::NO_ACCESS => return None,
        Kind::ReadRange | Kind::WriteRange => event.value.min(LONGEST_RANGE),
        Kind::Malloc | Kind::Free | Kind::Mapped => event.value.min(LARGEST),
        Kind::ThreadCreate if event.object != 0 => Event::THREAD_NAME,
        _ => return None,
    };
    let from = event.object.min(HIGHEST);
    Some((from, from + size))
}
