//! The dependence relation: which operations of different threads do not commute.
//!
//! Two operations that are enabled in the same state are *independent* when neither disables the
//! other, both orders lead to the same state and the same results, and each changes the same in
//! both; everything else is a *conflict*. Exhaustive searches (analyzer) and sleep sets (runtime)
//! share this one definition, which errs on the side of a conflict: whatever it does not know
//! conflicts with everything.
//!
//! An operation that makes another one possible at all (the signal that ends a wait, the last
//! arrival at a barrier) is ordered before it whatever this relation says: the two are never
//! enabled together.
//!
//! # What an operation found decides what it conflicts with
//! A footprint is that of an operation *in a state*. What leaves its object as it was (a
//! compare-exchange that fails, an exchange or a store of what is there already, `fetch_add` of 0, an
//! attempt at a lock that is held, a signal that nobody waits for) only looks at it there: it commutes
//! with all others that only look. In another state the same operation may change the object, and has
//! another footprint.
//!
//! That is sound because a footprint holds all that the operation's result, its changes, and hence the
//! footprint itself depend on. If of two operations, performed one directly after the other, neither
//! changes what the other looks at, then each finds the same in the other order: it has the same
//! result, changes the same, has the same footprint, and the two do not conflict there either. So
//! - the executions that come of one by swapping neighbours that do not conflict are exactly those with
//!   the same partial order of conflicts, and every step has the same footprint in all of them
//!   (a Mazurkiewicz trace whose letters are operations with their footprints);
//! - an operation that has been explored from some state and *sleeps* has the footprint that it had
//!   there for as long as nothing is performed that conflicts with that footprint. What is performed
//!   meanwhile is looked at with the footprint that it has then, by whoever performs it.
//!
//! What is not sound is to take the footprint that an operation has in one place for the one that it
//! has behind other steps: a failed compare-exchange that is tried before the write it found may
//! succeed. `analyzer/src/dpor/elsewhere.rs` works that out from [`Kind::Operands`] records; where these
//! are missing, in every place, the operation is taken to change its object.
//!
//! Two stores of one value into something else conflict, although nobody can tell their order: the
//! first one changes memory, and so a reader between them comes after *it*. (Else what has to come
//! before a reader would be one or the other, which no partial order says.)

use crate::descriptor::{What, what_of};
use crate::event::{Event, Kind, RW_WRITERS_FIRST};
use crate::uses::{Manner, Uses, place_of_object};
use crate::{Slot, slot};

/// Where the things lie that operations touch: [`Part::space`].
pub mod space {
    /// Bytes of memory, those of locks and semaphores included.
    pub const MEMORY: u32 = 0;
    /// Threads: creation, start, end, join, detach, cancellation. The number is the slot. Above them
    /// lie the names of threads and the lists of handlers of exit.
    pub const THREADS: u32 = 1;
    /// Queues of futex waiters, by address.
    pub const QUEUES: u32 = 2;
    /// Rounds of barriers that are being left, by address.
    pub const ROUNDS: u32 = 3;
    /// Who holds a read-write lock to read: for each lock a place for each slot. They come in any
    /// order; whether there is one matters to a writer.
    pub const READERS: u32 = 4;
    /// What the C library and the kernel keep: such a part is a [`Uses`](crate::uses::Uses).
    pub const STATES: u32 = 5;
}

/// What [`Kind::Ask`] is about, as a number of [`space::THREADS`].
pub mod kept {
    use crate::Slot;

    const FIRST: u64 = 3 << 32;
    const SETTINGS: u64 = FIRST + 0x10000;
    /// The virtual clock: [`Kind::ClockRead`](crate::event::Kind::ClockRead) follows.
    pub const CLOCK: u64 = 0;
    /// Pending signals.
    pub const PENDING: u64 = FIRST;
    /// Timers.
    pub const TIMERS: u64 = FIRST + 1;
    /// Which keys of thread-specific data there are.
    pub const KEYS: u64 = FIRST + 2;
    /// The destructors of these keys. A thread that ends looks for one after the other, in the steps
    /// that they take; so who takes one away is in conflict with every step.
    pub const DESTRUCTORS: u64 = FIRST + 3;

    /// Whether the thread has ended.
    pub const fn life_of(thread: Slot) -> u64 {
        thread as u64
    }

    /// The action of a signal.
    pub const fn action_of(signal: u32) -> u64 {
        FIRST + 0x100 + signal as u64 % 0x100
    }

    /// The name of a thread, and how it is scheduled; for others, whether it has ended, as well.
    pub const fn settings_of(thread: Slot) -> u64 {
        SETTINGS + thread as u64
    }

    /// Inverse of [`settings_of`].
    pub(super) const fn set_of(about: u64) -> Option<u64> {
        about.checked_sub(SETTINGS)
    }
}

/// Some of what an operation touches: `first..end` in a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Part {
    pub first: u64,
    /// One past the last; `first` for a part that is not there.
    pub end: u64,
    /// See [`space`].
    pub space: u32,
    /// 1: changes it; 0: only looks.
    pub writes: u32,
}

impl Part {
    const NONE: Part = Part {
        first: 0,
        end: 0,
        space: space::MEMORY,
        writes: 0,
    };

    const fn new(space: u32, first: u64, len: u64, writes: bool) -> Part {
        Part {
            first,
            end: first.saturating_add(len),
            space,
            writes: writes as u32,
        }
    }

    /// Is a byte of memory from `first` until before `end` changed?
    pub const fn is_written_in(&self, first: u64, end: u64) -> bool {
        self.writes != 0 && self.space == space::MEMORY && self.first < end && first < self.end
    }

    /// Are all bytes of `other` among those of this part?
    const fn covers(&self, other: &Part) -> bool {
        self.space == other.space && self.first <= other.first && other.end <= self.end
    }

    fn of_uses(uses: Uses) -> Option<Part> {
        let (first, end) = uses.as_range()?;
        Some(Part {
            first,
            end,
            space: space::STATES,
            writes: uses.changes() as u32,
        })
    }

    /// The uses that it stands for, if it does.
    pub fn uses(&self) -> Option<Uses> {
        (self.space == space::STATES).then(|| Uses::of_range(self.first, self.end))
    }

    fn meets(&self, other: &Part) -> bool {
        if self.space == space::STATES {
            let both = self.uses().zip(other.uses());
            return both.is_some_and(|(mine, its)| mine.meets(its));
        }
        self.first < other.end
            && other.first < self.end
            && self.space == other.space
            && self.writes | other.writes != 0
    }
}

/// Most threads in the sleep set of a job.
pub const MOST_SLEEPERS: usize = 256;

/// Bits of [`Footprint::marks`].
pub mod marks {
    /// Conflicts with every operation.
    pub const EVERYTHING: u16 = 1;
    /// Moves or reads the virtual clock; such operations conflict with each other. Whoever knows
    /// that nobody reads the clock takes the mark away.
    pub const CLOCK: u16 = 2;
    /// Conflicts with every operation of the thread `about`.
    pub const CANCELS: u16 = 4;
}

/// All that decides with what an operation conflicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Footprint {
    /// Who performs it.
    pub thread: Slot,
    /// See [`marks`].
    pub marks: u16,
    /// See [`marks::CANCELS`].
    pub about: Slot,
    #[doc(hidden)]
    pub pad: u16,
    pub parts: [Part; 2],
}

/// What the record of a step does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Unrecorded {
    /// Of a wait for a condition that comes to its end: the mutex that goes with the condition.
    pub mutex: u64,
    /// Of such a wait: the waiter is out of the queue already (signalled, or it gave up): only the
    /// mutex is left.
    pub released: bool,
    /// Of an access to memory with [`Kind::Operands`]: it leaves the memory as it was.
    pub idle: bool,
}

/// Sizes of glibc's objects on x86-64, in bytes.
mod size {
    pub const MUTEX: u64 = 40;
    pub const COND: u64 = 48;
    pub const RWLOCK: u64 = 56;
    pub const BARRIER: u64 = 32;
    pub const SEM: u64 = 32;
    pub const WORD: u64 = 4;
}

impl Footprint {
    /// The footprint of a step.
    pub fn of(event: &Event, beside: Unrecorded) -> Footprint {
        let Some(kind) = event.kind() else {
            return Footprint::everything(event.thread);
        };
        let at = event.object;
        let whole = |len| Part::new(space::MEMORY, at, len, true);
        let mutex = |m| Part::new(space::MEMORY, m, size::MUTEX, true);
        let queue = Part::new(space::QUEUES, at, 1, true);
        let bytes = u64::from(event.size);
        let access = |len, writes| Part::new(space::MEMORY, at, len, writes);
        let attempt = |len| [access(len, is_taken(event.value)), Part::NONE];
        let about = |s: u64| Part::new(space::THREADS, s, 1, true);
        let me = about(u64::from(event.thread));
        let (parts, mut marked) = match kind {
            Kind::ThreadExit if event.aux != 0 => return Footprint::everything(event.thread),
            Kind::ThreadStart | Kind::ThreadExit | Kind::ThreadLeave => ([me, Part::NONE], 0),
            Kind::ThreadCreate => ([about(event.value), names(event.value)], 0),
            Kind::ThreadDetach => ([about(event.value), Part::NONE], 0),
            Kind::ThreadJoin | Kind::ThreadTryJoin => ([about(event.value), Part::NONE], 0),
            Kind::Ask if at == kept::CLOCK => ([Part::NONE; 2], 0),
            Kind::Ask if at == kept::DESTRUCTORS && event.value != 0 => {
                return Footprint::everything(event.thread);
            }
            Kind::Ask => {
                let kept = Part::new(space::THREADS, at, 1, event.value != 0);
                let life = |thread| Part::new(space::THREADS, thread, 1, false);
                ([kept, kept::set_of(at).map_or(Part::NONE, life)], 0)
            }
            Kind::ExitNext | Kind::AtExit => {
                // Those of quick_exit are forgotten when those of exit have run.
                let lists = Part::new(space::THREADS, 2 << 32, 1, true);
                ([lists, Part::NONE], 0)
            }
            Kind::ThreadTimedJoin => ([about(event.value), Part::NONE], marks::CLOCK),
            Kind::ThreadCancel => ([about(event.value), Part::NONE], marks::CANCELS),
            Kind::MutexUnlock | Kind::MutexInit | Kind::MutexDestroy => {
                ([whole(size::MUTEX), Part::NONE], 0)
            }
            Kind::MutexLock | Kind::MutexTryLock => (attempt(size::MUTEX), 0),
            Kind::MutexTimedLock => (attempt(size::MUTEX), marks::CLOCK),
            Kind::CondWait => ([whole(size::COND), mutex(event.value)], 0),
            Kind::CondWake if beside.released => ([mutex(beside.mutex), Part::NONE], 0),
            Kind::CondWake | Kind::CondLeave => {
                ([whole(size::COND), mutex(beside.mutex)], marks::CLOCK)
            }
            Kind::CondSignal => {
                let wakes = event.value != u64::from(slot::NONE);
                ([access(size::COND, wakes), Part::NONE], 0)
            }
            Kind::CondBroadcast => ([access(size::COND, event.value != 0), Part::NONE], 0),
            Kind::CondDestroy => ([whole(size::COND), Part::NONE], 0),
            Kind::RwRead | Kind::RwTryRead if is_taken(event.value) => {
                let mine = readers(at, event.thread, 1, true);
                ([access(size::RWLOCK, false), mine], 0)
            }
            Kind::RwRead | Kind::RwTryRead => ([access(size::RWLOCK, false), Part::NONE], 0),
            // A writer that waited and barred readers does so no more.
            Kind::RwWrite if event.aux & RW_WRITERS_FIRST != 0 => {
                ([whole(size::RWLOCK), Part::NONE], 0)
            }
            Kind::RwWrite | Kind::RwTryWrite if !is_taken(event.value) => {
                let all = readers(at, 0, slot::COUNT as u64, false);
                ([access(size::RWLOCK, false), all], 0)
            }
            Kind::RwQueue | Kind::RwWrite | Kind::RwTryWrite | Kind::RwUnlock | Kind::RwDestroy => {
                ([whole(size::RWLOCK), Part::NONE], 0)
            }
            Kind::BarrierArrive => ([whole(size::BARRIER), Part::NONE], 0),
            Kind::BarrierLeave => ([Part::new(space::ROUNDS, at, 1, false), Part::NONE], 0),
            Kind::BarrierDestroy => {
                let round = Part::new(space::ROUNDS, at, 1, true);
                ([whole(size::BARRIER), round], 0)
            }
            Kind::SemWait | Kind::SemPost | Kind::SemDestroy => ([whole(size::SEM), Part::NONE], 0),
            Kind::SemTryWait => (attempt(size::SEM), 0),
            Kind::SemTimedWait => (attempt(size::SEM), marks::CLOCK),
            Kind::SemGetValue => ([access(size::SEM, false), Part::NONE], 0),
            Kind::SpinTryLock => (attempt(size::WORD), 0),
            Kind::OnceEnter => ([access(size::WORD, event.value == 1), Part::NONE], 0),
            Kind::SpinLock | Kind::SpinUnlock | Kind::SpinDestroy | Kind::OnceDone => {
                ([whole(size::WORD), Part::NONE], 0)
            }
            Kind::Yield | Kind::Return | Kind::Fence => ([Part::NONE; 2], 0),
            Kind::Sleep => ([Part::NONE; 2], marks::CLOCK),
            // At several words: the record names the first one.
            Kind::FutexWait | Kind::FutexResume if event.size != 0 => {
                return Footprint::everything(event.thread);
            }
            // Also where the word was not as expected: code without hooks may have changed it, and
            // before that the thread would have waited for whom a wake woke.
            Kind::FutexWait => ([access(size::WORD, false), queue], 0),
            // A requeue, or a wake that also changes a word: the record does not say where.
            Kind::FutexWake if event.size != 0 => return Footprint::everything(event.thread),
            Kind::FutexWake if event.value == 0 => {
                ([Part::new(space::QUEUES, at, 1, false), Part::NONE], 0)
            }
            Kind::FutexWake | Kind::FutexResume => ([queue, Part::NONE], 0),
            Kind::Free => ([access(event.value.max(1), true), Part::NONE], 0),
            Kind::Remap => {
                let (bytes, uses) = Uses::of_pages(event.value);
                let uses = Part::of_uses(uses).filter(|_| !uses.is_empty());
                ([access(bytes, true), uses.unwrap_or(Part::NONE)], 0)
            }
            Kind::Read | Kind::AtomicRead => ([access(bytes, false), Part::NONE], 0),
            Kind::Write | Kind::AtomicWrite | Kind::Rmw => {
                ([access(bytes, !beside.idle), Part::NONE], 0)
            }
            Kind::ReadRange => ([access(event.value, false), Part::NONE], 0),
            Kind::WriteRange => ([access(event.value, true), Part::NONE], 0),
            Kind::StateUse => match Part::of_uses(Uses::of_record(at, event.value)) {
                Some(uses) => ([uses, Part::NONE], 0),
                None => return Footprint::everything(event.thread),
            },
            Kind::DescriptorRead | Kind::DescriptorWrite | Kind::Poll if is_plain(event) => {
                let (manner, clock) = match kind {
                    Kind::Poll => (Manner::Looks, marks::CLOCK),
                    _ => (Manner::Changes, 0),
                };
                match Part::of_uses(Uses::one(place_of_object(at), manner)) {
                    Some(uses) => ([uses, Part::NONE], clock),
                    None => return Footprint::everything(event.thread),
                }
            }
            _ => return Footprint::everything(event.thread),
        };
        if timed_out(kind, event.value) {
            marked |= marks::CLOCK;
        }
        Footprint {
            thread: event.thread,
            marks: marked,
            about: match marked & marks::CANCELS {
                0 => slot::NONE,
                _ => event.value as Slot,
            },
            pad: 0,
            parts,
        }
    }

    /// The footprint of an operation of which nothing is known but the thread.
    pub const fn everything(thread: Slot) -> Footprint {
        Footprint {
            thread,
            marks: marks::EVERYTHING,
            about: slot::NONE,
            pad: 0,
            parts: [Part::NONE; 2],
        }
    }

    /// The footprint of this step where the thread was parked before it ([`Kind::Parked`]): it is
    /// possible as long as one of these words (address, bytes) is not what the thread read, or one of
    /// these threads (slot, 0) has ended, so it looks at all of them. More than there is place for are
    /// taken for one stretch.
    #[must_use]
    pub fn awaiting(mut self, words: impl IntoIterator<Item = (u64, u64)>) -> Footprint {
        for (at, bytes) in words {
            let word = match bytes {
                0 => Part::new(space::THREADS, at, 1, false),
                _ => Part::new(space::MEMORY, at, bytes, false),
            };
            if self.parts.iter().any(|part| part.covers(&word)) {
                continue;
            }
            let [first, second] = &mut self.parts;
            match (first.first == first.end, second.first == second.end) {
                (true, _) => *first = word,
                (false, true) => *second = word,
                (false, false) if second.space == word.space => {
                    second.first = second.first.min(word.first);
                    second.end = second.end.max(word.end);
                }
                _ => self.marks |= marks::EVERYTHING,
            }
        }
        self
    }

    /// Do the two operations conflict? Those of one thread always do.
    #[inline]
    pub fn conflicts(&self, other: &Footprint) -> bool {
        let either = self.marks | other.marks;
        self.thread == other.thread
            || either & marks::EVERYTHING != 0
            || self.marks & other.marks & marks::CLOCK != 0
            || (self.marks & marks::CANCELS != 0 && self.about == other.thread)
            || (other.marks & marks::CANCELS != 0 && other.about == self.thread)
            || self
                .parts
                .iter()
                .any(|mine| other.parts.iter().any(|its| mine.meets(its)))
    }
}

/// Children of threads other than main are named by a hash, which may clash: then the order of
/// their creation decides who gets the name.
fn names(child: u64) -> Part {
    match child >= u64::from(slot::FIRST_NESTED) {
        true => Part::new(space::THREADS, 1 << 32, 1, true),
        false => Part::NONE,
    }
}

/// The places of `count` slots from `first` on among the readers of the lock at `at`.
fn readers(at: u64, first: Slot, count: u64, changes: bool) -> Part {
    let place = at.wrapping_mul(slot::COUNT as u64) + u64::from(first);
    Part::new(space::READERS, place, count, changes)
}

/// Bytes pass through a pipe or an event counter, or there are none, or no place, or it is asked for
/// these: nothing else is changed (no signal is sent, no descriptor made).
fn is_plain(event: &Event) -> bool {
    let channels = [What::Pipe, What::Fifo, What::Event];
    let is_channel = what_of(event.object).is_some_and(|what| channels.contains(&what));
    is_channel && (event.value as i64 >= 0 || event.value == NOTHING_THERE)
}

/// The result of a call that found nothing to do: -EAGAIN.
const NOTHING_THERE: u64 = -11_i64 as u64;
/// errno values that results have.
const TIMED_OUT: u32 = 110;
const OWNER_DEAD: u64 = 130;

/// Does this result of an operation on a lock or a semaphore say that it is taken now?
pub const fn is_taken(result: u64) -> bool {
    result == 0 || result == OWNER_DEAD
}

fn timed_out(kind: Kind, value: u64) -> bool {
    let may = matches!(kind, Kind::RwRead | Kind::RwWrite | Kind::FutexResume);
    may && value == u64::from(TIMED_OUT)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Kind::*;

    /// The value of an access that changes nothing.
    const IDLE: u64 = 77;
    const BUSY: u64 = 16;
    const NOBODY: u64 = slot::NONE as u64;

    fn step(thread: Slot, kind: Kind, object: u64, value: u64) -> Footprint {
        let event = Event {
            kind: kind as u8,
            size: match kind {
                FutexWait | FutexWake | FutexResume => 0,
                _ => 4,
            },
            thread,
            object,
            value,
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
        let [looks, changes] =
            [Manner::Looks, Manner::Changes].map(|how| Uses::one(7, how).record());
        let others = Uses::one(8, Manner::Changes).record();
        let pipe = |k| crate::descriptor::object(What::Pipe, 0, k);
        let socket = crate::descriptor::object(What::Network, 0, 1);
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
            ((RwTryRead, 0x100, BUSY), (RwRead, 0x100, 0), false),
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
    fn a_thread_conflicts_with_itself() {
        let a = step(1, Yield, 0, 0);
        assert!(a.conflicts(&a));
    }
}
