//! What the formula knows of each kind of step: which have results, which of these it models, and the
//! numbers by which outcomes are told apart.

use super::channels::is_channel;
use raddle_protocol::event::{Event, Kind, RW_WRITERS_FIRST, SIGNAL_OWN};

/// Accesses of 1 to 8 bytes.
pub fn is_access(kind: Kind) -> bool {
    use Kind::{AtomicRead, AtomicWrite, Read, Rmw, Write};
    matches!(kind, Read | Write | Rmw | AtomicRead | AtomicWrite)
}

/// Does the step's `value` say something that the thread can see and that may differ?
pub fn has_result(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        MutexLock
            | MutexTryLock
            | MutexTimedLock
            | CondWake
            | RwRead
            | RwWrite
            | RwTryRead
            | RwTryWrite
            | BarrierArrive
            | BarrierLeave
            | SemWait
            | SemTryWait
            | SemTimedWait
            | SemGetValue
            | ExitNext
            | SpinTryLock
            | OnceEnter
            | FutexWait
            | FutexWake
            | FutexResume
            | SignalWait
    )
}

/// Can this step end because its time runs out?
pub fn is_wait(kind: Kind) -> bool {
    use Kind::{CondLeave, CondWake, MutexTimedLock, RwRead, RwWrite, SemTimedWait};
    matches!(
        kind,
        CondLeave | CondWake | MutexTimedLock | RwRead | RwWrite | SemTimedWait
    )
}

/// Is this a step whose conditions and outcomes the formula knows?
pub fn is_modelled(event: &Event, kind: Kind, outcome: u64) -> bool {
    use Kind::*;
    match kind {
        MutexLock => matches!(outcome, 0 | EDEADLK),
        MutexTimedLock => matches!(outcome, 0 | EDEADLK | ETIMEDOUT),
        MutexTryLock => matches!(outcome, 0 | EBUSY | EDEADLK),
        SpinTryLock | RwTryRead | RwTryWrite => matches!(outcome, 0 | EBUSY),
        RwRead | RwWrite if event.aux & RW_WRITERS_FIRST != 0 => false,
        RwRead | RwWrite => matches!(outcome, 0 | EDEADLK | ETIMEDOUT),
        CondWake => matches!(outcome, 0 | ETIMEDOUT),
        CondLeave => event.value == ETIMEDOUT,
        SemWait => outcome == 0,
        SemTryWait => matches!(outcome, 0 | EAGAIN),
        SemTimedWait => matches!(outcome, 0 | ETIMEDOUT),
        SemPost => event.value == 0,
        // Their content is also changed by what is no step.
        OnceEnter | OnceDone => event.size != Event::GUARD,
        SemGetValue | BarrierArrive | BarrierLeave | ExitNext | AtExit => true,
        CondWait | CondSignal | CondBroadcast | RwUnlock => true,
        // Who locks a robust mutex that it leaves gets another result.
        ThreadExit => event.aux == 0,
        ThreadStart | ThreadCreate => true,
        // That it fails depends on others, and does not come out as an outcome.
        ThreadDetach => event.aux == 0,
        ThreadJoin | ThreadTryJoin | ThreadTimedJoin => outcome != NOT_JOINED || kind != ThreadJoin,
        MutexUnlock | SpinLock | SpinUnlock | Yield | Sleep | Fence | ProcessEnd => true,
        // Requests to cancel threads are not.
        CancellationPoint => true,
        // Signals that are sent are not.
        SignalReturn => event.aux & SIGNAL_OWN != 0,
        // Their orders are looked at on their own: see `hazards`.
        MutexInit | MutexDestroy | Free | Remap => true,
        CondDestroy | SemDestroy | RwDestroy | BarrierDestroy | SpinDestroy => true,
        Close => is_channel(event.object) && event.value == 0,
        kind => is_access(kind),
    }
}

/// Does a step of this kind with this outcome leave everything as it was, so that a thread may try again?
pub fn is_failed_attempt(kind: Kind, outcome: u64) -> bool {
    use Kind::*;
    match kind {
        MutexTryLock | SpinTryLock | RwTryRead | RwTryWrite => outcome == EBUSY,
        SemTryWait => outcome == EAGAIN,
        ThreadTryJoin | ThreadTimedJoin => outcome == NOT_JOINED,
        SemGetValue => outcome == 0,
        kind => is_wait(kind) && outcome == ETIMEDOUT,
    }
}

/// The errno of an attempt of this kind to join a thread that has not ended; `None`: it is no attempt.
pub fn fails_with(kind: Kind) -> Option<u64> {
    match kind {
        Kind::ThreadTryJoin => Some(EBUSY),
        Kind::ThreadTimedJoin => Some(ETIMEDOUT),
        _ => None,
    }
}

/// The outcome of an attempt to join a thread that has not ended: no address, and no number that a
/// thread is likely to return.
pub const NOT_JOINED: u64 = 0xB05E_D0B0_05E0_B05E;
/// Instead of a tree: a join that waits for nobody or for a thread of unknown origin.
pub const UNKNOWN: u64 = u64::MAX;
/// The outcome of a wait for a condition that begins, and has a deadline.
pub const TIMED: u64 = 1;
/// The outcome of a wait for a condition whose time runs out while another thread has the mutex.
pub const LEFT: u64 = 1 << 32;
/// What a semaphore without a count answers to who does not wait.
pub const EAGAIN: u64 = 11;
/// What a busy lock answers to who does not wait.
pub const EBUSY: u64 = 16;
/// What an error-checking mutex answers to its owner.
pub const EDEADLK: u64 = 35;
/// How a wait ends whose time runs out.
pub const ETIMEDOUT: u64 = 110;
