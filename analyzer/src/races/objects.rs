//! Races on what is not memory of the program: a synchronisation object that one thread initialises
//! or destroys, a descriptor that one thread closes, while the use by another is in no order with
//! that. The beginning and the end of an object count as writes of it, uses as atomic reads.

use super::order::Order;
use super::shadow::{Shadow, Touch};
use super::{Access, Race, Subject, access_of};
use crate::stop;
use raddle_protocol::event::{Event, Kind};
use std::ops::Range;

/// What an operation means for the life of its synchronisation object; `None`: it has none, or does
/// not touch it (who leaves a barrier or is woken may find it destroyed).
pub fn begins_or_ends(kind: Kind) -> Option<bool> {
    use Kind::*;
    match kind {
        MutexInit | MutexDestroy | CondInit | CondDestroy | RwInit | RwDestroy | BarrierInit
        | BarrierDestroy | SemInit | SemDestroy | SpinInit | SpinDestroy => Some(true),
        MutexLock | MutexTryLock | MutexTimedLock | MutexUnlock | CondWait | CondSignal
        | CondBroadcast | RwRead | RwWrite | RwTryRead | RwTryWrite | RwUnlock | BarrierArrive
        | SemWait | SemTryWait | SemTimedWait | SemPost | SemGetValue | SpinLock | SpinTryLock
        | SpinUnlock => Some(false),
        _ => None,
    }
}

/// The descriptor that an event closes or uses, and whether it closes it.
pub fn descriptor(event: &Event) -> Option<(u32, bool)> {
    use Kind::*;
    let closes = match event.kind()? {
        Close => true,
        DescriptorRead | DescriptorWrite | Accept | Connect | Shutdown | Listen | EpollWait
        | EpollControl | NotOpen => false,
        _ => return None,
    };
    ((event.aux as i32) >= 0).then_some((event.aux, closes))
}

/// Descriptors that begin a new life with this event.
fn made(event: &Event) -> [Option<u64>; 2] {
    let result = event.value;
    match event.kind() {
        Some(Kind::DescriptorMade) => {
            let second = Some(result >> 32).filter(|&fd| fd != 0);
            [Some(result & 0xffff_ffff), second]
        }
        Some(Kind::Accept) => [Some(result).filter(|&fd| (fd as i64) >= 0), None],
        _ => [None; 2],
    }
}

/// An operation on an object or a descriptor.
pub struct Operation {
    /// Its record.
    pub event: usize,
    /// It begins or ends the life of what it is on.
    pub write: bool,
    /// The byte of the shadow that stands for that.
    pub place: u64,
}

/// Enters an operation; `found` gets each one before that it races with, and itself.
pub fn operate(
    events: &[Event],
    order: &mut Order,
    shadow: &mut Shadow,
    operation: Operation,
    mut found: impl FnMut(Access, Access),
) {
    let me = order.number(events[operation.event].thread);
    let clock = order.clock(me);
    let touch = Touch {
        thread: me,
        time: clock.of(me),
        event: operation.event as u32,
        write: operation.write,
        atomic: !operation.write,
    };
    let ordered = |old: &Touch| clock.of(old.thread) >= old.time;
    let bytes = (operation.place, operation.place + 1);
    shadow.access(bytes, touch, &ordered, &mut |old, _| {
        found(access_of(events, old), access_of(events, &touch));
    });
}

/// Where a descriptor is kept in the shadow.
fn place(fd: u64) -> Range<u64> {
    fd << 3..(fd << 3) + 1
}

/// Calls `found` for every use of a descriptor and its end that only operations on descriptors, if
/// anything, keep in order: what these hand on from thread to thread the records do not say.
pub fn descriptors(events: &[Event], mut found: impl FnMut(Race)) {
    if !events.iter().any(|e| e.kind == Kind::Close as u8) {
        return;
    }
    let mut order = Order::without_descriptors();
    let mut shadow = Shadow::default();
    for (index, event) in events.iter().enumerate() {
        stop::point();
        let Some(kind) = event.kind() else { continue };
        for fd in made(event).into_iter().flatten() {
            let bytes = place(fd);
            shadow.forget(bytes.start, bytes.end);
        }
        if let Some((fd, closes)) = descriptor(event) {
            let operation = Operation {
                event: index,
                write: closes,
                place: place(fd.into()).start,
            };
            operate(
                events,
                &mut order,
                &mut shadow,
                operation,
                |first, second| {
                    found(Race {
                        first,
                        second,
                        address: fd.into(),
                        subject: Subject::Descriptor,
                    });
                },
            );
        }
        order.take_in(kind, event);
    }
}
