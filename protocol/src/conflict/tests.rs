//! The relation as a table.

use super::*;
use Kind::*;

/// The value of an access that changes nothing.
const IDLE: u64 = 77;
const BUSY: u64 = 16;
/// Of an unlock: of what was held to read.
const READS: u64 = 78;
/// Signal 10, of the thread to itself.
const OWN: u64 = 1 << 8 | 10;
const NOBODY: u64 = slot::NONE as u64;
/// Of a message that somebody is to be told of.
const TOLD: u64 = 80;
/// Of a post: the count is close to the greatest one.
const MANY: u64 = 79;

fn step(thread: Slot, kind: Kind, object: u64, value: u64) -> Footprint {
    let event = Event {
        kind: kind as u8,
        size: match kind {
            FutexWait | FutexWake | FutexResume => 0,
            FileLock | FileUnlock | QueueReceive | SemaphoreSet => 0,
            // Somebody is to be told of it.
            QueueSend => u8::from(value == TOLD),
            _ => 4,
        },
        thread,
        aux: match kind {
            SemPost if value == MANY => i32::MAX as u32 - 1,
            RwUnlock if value == READS => RW_READ,
            SignalSend | SignalHandler | SignalReturn if value == OWN => SIGNAL_OWN,
            _ => 0,
        },
        object,
        value: match value {
            MANY => 0,
            _ => value,
        },
        ..Event::default()
    };
    let beside = Unrecorded {
        mutex: 0x500,
        released: kind == CondWake && value == 0,
        idle: value == IDLE,
    };
    Footprint::of(&event, beside)
}

/// Operation of thread 1, operation of thread 2, do they conflict?
#[test]
fn the_relation() {
    /// Kind, object and value.
    type Done = (Kind, u64, u64);
    let [looks, changes] = [Access::Looks, Access::Changes].map(|how| Uses::one(7, how).record());
    let others = Uses::one(8, Access::Changes).record();
    let pipe = |k| crate::descriptor::object(What::Pipe, 0, k);
    let of = |what| crate::descriptor::object(what, 0, 1);
    let socket = of(What::Network);
    let [file, queue, letters, set] =
        [What::File, What::Queue, What::Messages, What::Semaphores].map(of);
    let other_set = crate::descriptor::object(What::Semaphores, 0, 2);
    let table: &[(Done, Done, bool)] = &[
        ((Read, 0x100, 0), (Read, 0x100, 0), false),
        ((Read, 0x100, 0), (Write, 0x100, 0), true),
        ((Read, 0x100, 0), (Write, 0x103, 0), true),
        ((Read, 0x100, 0), (Write, 0x104, 0), false),
        ((Read, 0x104, 0), (Write, 0x100, 0), false),
        ((Rmw, 0x100, 0), (AtomicRead, 0x102, 0), true),
        ((Rmw, 0x100, 0), (Rmw, 0x100, 0), true),
        ((Rmw, 0x100, IDLE), (Rmw, 0x100, IDLE), false),
        ((Rmw, 0x100, IDLE), (AtomicRead, 0x100, 0), false),
        ((Rmw, 0x100, IDLE), (Rmw, 0x100, 0), true),
        ((Write, 0x100, IDLE), (AtomicWrite, 0x100, IDLE), false),
        ((Write, 0x100, IDLE), (AtomicWrite, 0x100, 0), true),
        ((Write, 0x100, IDLE), (Free, 0x100, 32), true),
        ((ReadRange, 0x100, 64), (Write, 0x13c, 0), true),
        ((ReadRange, 0x100, 64), (Write, 0x140, 0), false),
        ((ReadRange, 0x100, 64), (ReadRange, 0x100, 64), false),
        ((WriteRange, 0x100, 64), (ReadRange, 0x120, 1), true),
        ((WriteRange, 0x100, 0), (Write, 0x100, 0), false),
        (
            (StateUse, looks.0, looks.1),
            (StateUse, looks.0, looks.1),
            false,
        ),
        (
            (StateUse, looks.0, looks.1),
            (StateUse, changes.0, changes.1),
            true,
        ),
        (
            (StateUse, changes.0, changes.1),
            (StateUse, others.0, others.1),
            false,
        ),
        (
            (StateUse, changes.0, changes.1),
            (Write, changes.0, 0),
            false,
        ),
        (
            (DescriptorRead, pipe(1), 4),
            (DescriptorWrite, pipe(1), 4),
            true,
        ),
        (
            (DescriptorRead, pipe(1), 4),
            (DescriptorWrite, pipe(2), 4),
            false,
        ),
        (
            (DescriptorRead, pipe(1), NOTHING_THERE),
            (Write, 0x100, 0),
            false,
        ),
        (
            (DescriptorWrite, pipe(1), -32_i64 as u64),
            (Write, 0x100, 0),
            true,
        ),
        ((DescriptorWrite, pipe(1), 4), (Close, pipe(2), 0), true),
        ((Poll, pipe(1), 1), (DescriptorWrite, pipe(1), 4), true),
        ((Poll, pipe(1), 1), (Poll, pipe(1), 0), true),
        ((Poll, pipe(1), 1), (Write, 0x100, 0), false),
        ((Poll, 0, 1), (Write, 0x100, 0), true),
        (
            (DescriptorRead, socket, 4),
            (DescriptorRead, pipe(1), 4),
            true,
        ),
        ((SemaphoreSet, set, 0), (SemaphoreSet, set, 0), true),
        ((SemaphoreSet, set, 0), (SemaphoreSet, other_set, 0), false),
        ((SemaphoreSet, set, NOTHING_THERE), (Write, 0x100, 0), false),
        ((SemaphoreSet, set, -43_i64 as u64), (Write, 0x100, 0), true),
        ((SemaphoreSet, 0x100, 0), (Write, 0x100, 0), true),
        ((QueueControl, set, 0), (SemaphoreSet, set, 0), true),
        ((FileLock, file, 0), (FileUnlock, file, 0), true),
        ((FileLock, file, 0), (Read, 0x100, 0), false),
        ((FileLock, file, 0), (Close, file, 0), true),
        ((QueueSend, queue, 0), (QueueReceive, queue, 1), true),
        ((QueueSend, queue, 0), (QueueReceive, letters, 1), false),
        ((QueueSend, queue, TOLD), (Write, 0x100, 0), true),
        ((QueueSend, queue, 0), (Poll, queue, 1), true),
        ((Free, 0x100, 32), (Read, 0x11c, 0), true),
        ((Free, 0x100, 32), (Read, 0x120, 0), false),
        ((Free, 0x100, 0), (Free, 0x100, 0), true),
        ((Free, 0x100, 32), (MutexLock, 0x110, 0), true),
        ((MutexLock, 0x100, 0), (MutexLock, 0x100, 0), true),
        ((MutexLock, 0x100, 0), (MutexLock, 0x140, 0), false),
        ((MutexTryLock, 0x100, BUSY), (MutexUnlock, 0x100, 0), true),
        ((MutexTryLock, 0x100, BUSY), (MutexTryLock, 0x100, 0), true),
        (
            (MutexTryLock, 0x100, BUSY),
            (MutexTryLock, 0x100, BUSY),
            false,
        ),
        (
            (MutexTryLock, 0x100, BUSY),
            (MutexTimedLock, 0x100, 110),
            false,
        ),
        ((MutexTimedLock, 0x100, 110), (Sleep, 0, 0), true),
        (
            (MutexTryLock, 0x100, 130),
            (MutexTryLock, 0x100, BUSY),
            true,
        ),
        ((MutexLock, 0x100, 130), (Read, 0x900, 0), false),
        ((MutexLock, 0x100, 130), (MutexLock, 0x100, 131), true),
        ((MutexTryLock, 0x100, 131), (MutexLock, 0x100, 131), false),
        ((CondWait, 0x100, 0x500), (MutexLock, 0x500, 0), true),
        ((CondWait, 0x100, 0x500), (CondSignal, 0x100, 9), true),
        ((CondWait, 0x100, 0x500), (CondSignal, 0x200, 9), false),
        ((CondWake, 0x100, 0), (CondSignal, 0x100, 9), false),
        ((CondWake, 0x100, 110), (CondSignal, 0x100, 9), true),
        ((CondWake, 0x100, 0), (MutexLock, 0x500, 0), true),
        ((CondWake, 0x100, 0), (MutexLock, 0x600, 0), false),
        ((CondLeave, 0x100, 110), (MutexUnlock, 0x500, 0), true),
        ((CondSignal, 0x100, 9), (CondBroadcast, 0x100, 1), true),
        ((CondSignal, 0x100, 9), (CondBroadcast, 0x100, 0), true),
        (
            (CondSignal, 0x100, NOBODY),
            (CondBroadcast, 0x100, 0),
            false,
        ),
        ((CondSignal, 0x100, NOBODY), (CondWait, 0x100, 0x500), true),
        ((CondWait, 0x100, 0x500), (CondBroadcast, 0x100, 0), true),
        ((RwRead, 0x100, 0), (RwRead, 0x100, 0), false),
        ((RwRead, 0x100, 0), (RwTryRead, 0x100, 0), false),
        ((RwRead, 0x100, 0), (RwWrite, 0x100, 0), true),
        ((RwRead, 0x100, 0), (RwUnlock, 0x100, 0), true),
        ((RwRead, 0x100, 0), (RwQueue, 0x100, 0), true),
        ((RwRead, 0x100, 110), (Sleep, 0, 0), true),
        ((RwTryRead, 0x100, BUSY), (RwTryWrite, 0x100, BUSY), false),
        ((RwTryRead, 0x100, BUSY), (RwRead, 0x100, 0), true),
        ((RwUnlock, 0x100, READS), (RwUnlock, 0x100, READS), false),
        ((RwUnlock, 0x100, READS), (RwRead, 0x100, 0), false),
        ((RwUnlock, 0x100, READS), (RwTryRead, 0x100, 0), false),
        ((RwUnlock, 0x100, READS), (RwWrite, 0x100, 0), true),
        ((RwUnlock, 0x100, READS), (RwUnlock, 0x100, 0), true),
        ((RwUnlock, 0x100, READS), (RwTryWrite, 0x100, BUSY), true),
        ((RwUnlock, 0x100, READS), (RwQueue, 0x100, 0), true),
        ((RwUnlock, 0x100, READS), (Read, 0x100, 0), true),
        ((RwUnlock, 0x100, READS), (Free, 0x100, 56), true),
        ((RwTryRead, 0x100, BUSY), (RwUnlock, 0x100, 0), true),
        ((RwTryWrite, 0x100, BUSY), (RwTryWrite, 0x100, BUSY), false),
        ((RwTryWrite, 0x100, BUSY), (RwRead, 0x100, 0), true),
        ((RwTryWrite, 0x100, BUSY), (RwRead, 0x138, 0), false),
        ((RwTryWrite, 0x100, BUSY), (RwTryWrite, 0x100, 0), true),
        ((RwWrite, 0x100, 110), (RwTryRead, 0x100, 0), true),
        ((RwWrite, 0x100, 110), (RwTryRead, 0x100, BUSY), false),
        ((BarrierArrive, 0x100, 0), (BarrierArrive, 0x100, 0), true),
        ((BarrierLeave, 0x100, 0), (BarrierLeave, 0x100, 0), false),
        ((BarrierLeave, 0x100, 0), (BarrierArrive, 0x100, 0), false),
        ((BarrierLeave, 0x100, 0), (BarrierDestroy, 0x100, 0), true),
        ((SemPost, 0x100, 0), (SemWait, 0x100, 0), true),
        ((SemPost, 0x100, 0), (SemPost, 0x100, 0), false),
        ((SemPost, 0x100, 0), (SemPost, 0x100, 75), true),
        ((SemPost, 0x100, MANY), (SemPost, 0x100, MANY), true),
        ((SemPost, 0x100, MANY), (SemPost, 0x100, 0), true),
        ((SemPost, 0x100, 0), (SemTryWait, 0x100, 0), true),
        ((SemPost, 0x100, 0), (SemDestroy, 0x100, 0), true),
        ((SemPost, 0x100, 0), (AtomicRead, 0x100, 0), true),
        ((SemGetValue, 0x100, 0), (SemGetValue, 0x100, 0), false),
        ((SemGetValue, 0x100, 0), (SemPost, 0x100, 0), true),
        ((SemTryWait, 0x100, 11), (SemGetValue, 0x100, 0), false),
        ((SemTryWait, 0x100, 11), (SemTimedWait, 0x100, 110), false),
        ((SemTryWait, 0x100, 11), (SemPost, 0x100, 0), true),
        ((SpinLock, 0x100, 0), (SpinTryLock, 0x100, 0), true),
        (
            (SpinTryLock, 0x100, BUSY),
            (SpinTryLock, 0x100, BUSY),
            false,
        ),
        ((SpinTryLock, 0x100, BUSY), (SpinUnlock, 0x100, 0), true),
        ((SpinLock, 0x100, 0), (SpinLock, 0x104, 0), false),
        ((OnceEnter, 0x100, 1), (OnceEnter, 0x100, 0), true),
        ((OnceEnter, 0x100, 0), (OnceEnter, 0x100, 0), false),
        ((OnceEnter, 0x100, 0), (OnceDone, 0x100, 0), true),
        ((FutexWait, 0x100, 0), (Write, 0x100, 0), true),
        ((FutexWait, 0x100, 0), (AtomicRead, 0x100, 0), false),
        ((FutexWait, 0x100, 0), (FutexWake, 0x100, 1), true),
        ((FutexWait, 0x100, 0), (FutexWake, 0x100, 0), true),
        ((FutexWait, 0x100, 11), (FutexWake, 0x100, 1), true),
        ((FutexWait, 0x100, IDLE), (FutexWake, 0x100, 0), true),
        ((FutexWait, 0x100, IDLE), (Write, 0x100, 0), true),
        ((FutexWake, 0x100, 0), (FutexWake, 0x100, 0), false),
        ((FutexWake, 0x100, 0), (FutexWake, 0x100, 1), true),
        ((FutexWake, 0x100, 1), (Write, 0x100, 0), false),
        ((FutexResume, 0x100, 0), (FutexWake, 0x100, 1), true),
        ((FutexResume, 0x100, 0), (FutexWake, 0x200, 1), false),
        ((Yield, 0, 0), (Write, 0x100, 0), false),
        ((Fence, 0, 0), (Write, 0x100, 0), false),
        ((Sleep, 0, 5), (Sleep, 0, 9), true),
        ((Sleep, 0, 5), (Write, 0x100, 0), false),
        ((Sleep, 0, 5), (SemTimedWait, 0x100, 0), true),
        ((ThreadCreate, 0, 7), (ThreadCreate, 0, 8), false),
        ((ThreadCreate, 0, 2000), (ThreadCreate, 0, 3000), true),
        ((ThreadCreate, 0, 2), (ThreadStart, 0, 0), true),
        ((ThreadCreate, 0x100, 7), (Write, 0x100, 0), true),
        ((ThreadCreate, 0x100, 2000), (Read, 0x104, 0), true),
        ((ThreadCreate, 0x100, 7), (Read, 0x108, 0), false),
        ((ThreadCreate, 0x100, 7), (ThreadCreate, 0x100, 8), true),
        ((ThreadJoin, 0, 2), (ThreadExit, 0, 0), true),
        ((ThreadJoin, 0, 3), (ThreadExit, 0, 0), false),
        ((ThreadTryJoin, 0, 2), (ThreadExit, 0, 0), true),
        ((ExitNext, 1, 2), (ExitNext, 1, 1), true),
        ((ExitNext, 1, 2), (ExitNext, 2, 1), true),
        ((ExitNext, 1, 2), (AtExit, 1, 1), true),
        ((AtExit, 1, 0), (AtExit, 1, 1), true),
        ((Ask, 2, 0), (ThreadExit, 0, 0), true),
        ((Ask, 3, 0), (ThreadExit, 0, 0), false),
        ((Ask, kept::DESTRUCTORS, 0), (Write, 0x100, 0), false),
        ((Ask, kept::DESTRUCTORS, 1), (Write, 0x100, 0), true),
        ((Ask, kept::settings_of(2), 0), (ThreadExit, 0, 0), true),
        ((Ask, kept::settings_of(3), 0), (ThreadExit, 0, 0), false),
        ((Ask, 9, 0), (Ask, 9, 0), false),
        ((Ask, 9, 0), (Ask, 9, 1), true),
        ((Ask, 0, 0), (Ask, 0, 0), false),
        ((ThreadTryJoin, 0, 3), (ThreadExit, 0, 0), false),
        ((ThreadTimedJoin, 0, 2), (ThreadExit, 0, 0), true),
        ((ThreadTimedJoin, 0, 3), (Sleep, 0, 5), true),
        ((ThreadJoin, 0, 2), (ThreadLeave, 0, 0), true),
        ((ThreadJoin, 0, 3), (ThreadDetach, 0, 3), true),
        ((ThreadCancel, 0, 2), (Write, 0x100, 0), true),
        ((ThreadCancel, 0, 3), (Write, 0x100, 0), false),
        ((SignalSend, 0, 10), (Read, 0x100, 0), true),
        ((SignalSend, 0, OWN), (SignalSend, 0, OWN), false),
        ((SignalSend, 0, OWN), (SignalHandler, 0, OWN), false),
        ((SignalSend, 0, OWN), (SignalSend, 0, 10), true),
        ((SignalSend, 0, OWN), (Ask, kept::action_of(10), 0), false),
        ((SignalSend, 0, OWN), (Ask, kept::action_of(10), 1), true),
        ((SignalHandler, 0, OWN), (Ask, kept::action_of(10), 1), true),
        (
            (SignalHandler, 0, OWN),
            (Ask, kept::action_of(12), 1),
            false,
        ),
        ((SignalReturn, 0, OWN), (Ask, kept::action_of(10), 1), false),
        ((SignalWait, 0, 10), (Yield, 0, 0), true),
        ((ProcessEnd, 0, 0), (Yield, 0, 0), true),
    ];
    for &((k1, o1, v1), (k2, o2, v2), expected) in table {
        let (a, b) = (step(1, k1, o1, v1), step(2, k2, o2, v2));
        assert_eq!(a.conflicts(&b), expected, "{k1:?} {o1:#x} {k2:?} {o2:#x}");
        assert_eq!(b.conflicts(&a), expected, "{k2:?} {o2:#x} {k1:?} {o1:#x}");
    }
}

/// Steps of which it is known what they touch. Whoever adds one proves that it commutes with what
/// touches something else; every other kind is taken to conflict with all.
const KNOWN: &[Kind] = &[
    ThreadStart,
    ThreadExit,
    ThreadLeave,
    ThreadCreate,
    ThreadJoin,
    ThreadTryJoin,
    ExitNext,
    AtExit,
    Ask,
    ThreadTimedJoin,
    ThreadDetach,
    ThreadCancel,
    MutexLock,
    MutexTryLock,
    MutexTimedLock,
    MutexUnlock,
    MutexInit,
    MutexDestroy,
    CondWait,
    CondWake,
    CondLeave,
    CondSignal,
    CondBroadcast,
    CondDestroy,
    RwRead,
    RwTryRead,
    RwWrite,
    RwTryWrite,
    RwUnlock,
    RwDestroy,
    RwQueue,
    BarrierArrive,
    BarrierLeave,
    BarrierDestroy,
    SemWait,
    SemTryWait,
    SemTimedWait,
    SemPost,
    SemDestroy,
    SemGetValue,
    SpinLock,
    SpinTryLock,
    SpinUnlock,
    SpinDestroy,
    OnceEnter,
    OnceDone,
    Yield,
    Return,
    CancellationPoint,
    Fence,
    Sleep,
    FutexWait,
    FutexWake,
    FutexResume,
    Free,
    Remap,
    Read,
    AtomicRead,
    Write,
    AtomicWrite,
    Rmw,
    ReadRange,
    WriteRange,
    StateUse,
];

#[test]
fn what_is_not_known_conflicts_with_everything() {
    let harmless = step(2, Yield, 0, 0);
    for n in 0..=u8::MAX {
        let event = Event {
            kind: n,
            thread: 1,
            object: 0x9000,
            ..Event::default()
        };
        let known = event.kind().is_some_and(|kind| KNOWN.contains(&kind));
        let foot = Footprint::of(&event, Unrecorded::default());
        assert_eq!(foot == Footprint::everything(1), !known, "{n}");
        assert_eq!(foot.conflicts(&harmless), !known, "{n}");
        assert_eq!(harmless.conflicts(&foot), !known, "{n}");
    }
}

#[test]
fn a_cancelled_operation_conflicts_if_it_could_have_been_impossible() {
    let harmless = step(2, Write, 0x9000, 0);
    let cancelled = |kind: Kind| {
        let event = Event {
            kind: Cancelled as u8,
            size: kind as u8,
            thread: 1,
            object: 0x9000,
            ..Event::default()
        };
        Footprint::of(&event, Unrecorded::default())
    };
    for kind in [Read, Write, Rmw, MutexUnlock, CancellationPoint] {
        assert!(!cancelled(kind).conflicts(&harmless), "{kind:?}");
        let request = step(2, ThreadCancel, 0, 1);
        assert!(cancelled(kind).conflicts(&request), "{kind:?}");
    }
    for kind in [MutexLock, SemWait, FutexResume, RwWrite, ThreadJoin] {
        assert!(cancelled(kind).conflicts(&harmless), "{kind:?}");
    }
}

#[test]
fn looks_at_the_clock_conflict_with_what_moves_it() {
    let with = |thread, marks| Footprint {
        thread,
        marks,
        ..Footprint::default()
    };
    let (moves, looks) = (marks::CLOCK, marks::LOOKS);
    let alike = [(looks, looks, false), (moves, moves, true)];
    let others = [(looks, moves, true), (moves | looks, 0, false)];
    for (mine, its, expected) in alike.into_iter().chain(others) {
        let (a, b) = (with(1, mine), with(2, its));
        assert_eq!(a.conflicts(&b), expected, "{mine} {its}");
        assert_eq!(b.conflicts(&a), expected, "{its} {mine}");
    }
}

#[test]
fn what_is_awaited_is_looked_at_by_those_that_add() {
    let post = step(1, SemPost, 0x100, 0);
    let other = step(2, SemPost, 0x100, 0);
    assert!(!post.conflicts(&other));
    assert!(post.awaiting([(0x100, 4)]).conflicts(&other));
}

#[test]
fn a_thread_conflicts_with_itself() {
    let a = step(1, Yield, 0, 0);
    assert!(a.conflicts(&a));
}
