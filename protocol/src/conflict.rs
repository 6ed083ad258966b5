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
//! # Changes that commute
//! Some operations of one kind change their object and commute with each other all the same, because
//! neither looks at what the other changes: to take a read-write lock to read and to give that back, to
//! post to a semaphore. A part that is changed so ([`Access::Adds`]) meets those that look and those that
//! change it in another way. Nothing that what was added decides can be left out of that: two arrivals at
//! a barrier conflict, since the second one may be the last, and two waits at a semaphore, since the
//! second one may be impossible.
//!
//! Two stores of one value into something else conflict, although nobody can tell their order: the
//! first one changes memory, and so a reader between them comes after *it*. (Else what has to come
//! before a reader would be one or the other, which no partial order says.)

use crate::descriptor::{What, what_of};
use crate::event::{Event, Kind, RW_READ, RW_WRITERS_FIRST, SIGNAL_OWN};
use crate::uses::{Uses, place_of_object};
use crate::{Slot, slot, stack};

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
    /// What the C library and the kernel keep: such a part is a [`Uses`](crate::uses::Uses).
    pub const STATES: u32 = 4;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Part {
    pub first: u64,
    /// One past the last; `first` for a part that is not there.
    pub end: u64,
    /// See [`space`].
    pub space: u32,
    /// An [`Access`] as a number; what is none counts as a change.
    pub access: u32,
}

/// What an operation does with something that others use too: with a part of its footprint, with a
/// state of the C library or the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Access {
    /// It only looks: it depends on it and leaves it as it is.
    Looks = 1,
    /// It changes it in a way that commutes with all others of this kind, and neither its result nor
    /// what it changes depends on them.
    Adds = 2,
    /// It depends on it and changes it, or its place among other changes matters.
    Changes = 3,
}

impl Access {
    /// Inverse of the number.
    pub const fn of(number: u32) -> Option<Access> {
        match number {
            1 => Some(Access::Looks),
            2 => Some(Access::Adds),
            3 => Some(Access::Changes),
            _ => None,
        }
    }

    /// Of what changes it or only looks.
    pub const fn changing(changes: bool) -> Access {
        match changes {
            true => Access::Changes,
            false => Access::Looks,
        }
    }

    /// Does it leave it as it is?
    pub const fn is_look(self) -> bool {
        matches!(self, Access::Looks)
    }

    /// Does the order of these two matter? The only place where this is said.
    pub const fn conflicts(self, other: Access) -> bool {
        !matches!(
            (self, other),
            (Access::Looks, Access::Looks) | (Access::Adds, Access::Adds)
        )
    }

    /// What one operation does that does both.
    #[must_use]
    pub const fn and(self, other: Access) -> Access {
        match self.conflicts(other) {
            true => Access::Changes,
            false => self,
        }
    }
}

impl Default for Part {
    /// One that is not there.
    fn default() -> Part {
        Part::NONE
    }
}

impl Part {
    const NONE: Part = Part {
        first: 0,
        end: 0,
        space: space::MEMORY,
        access: Access::Looks as u32,
    };

    const fn new(space: u32, first: u64, len: u64, changes: bool) -> Part {
        Part::with(space, first, len, Access::changing(changes))
    }

    const fn with(space: u32, first: u64, len: u64, access: Access) -> Part {
        Part {
            first,
            end: first.saturating_add(len),
            space,
            access: access as u32,
        }
    }

    /// Is a byte of memory from `first` until before `end` changed?
    pub const fn is_written_in(&self, first: u64, end: u64) -> bool {
        let within = self.space == space::MEMORY && self.first < end && first < self.end;
        within && !self.access().is_look()
    }

    const fn access(&self) -> Access {
        match Access::of(self.access) {
            Some(access) => access,
            None => Access::Changes,
        }
    }

    /// Does this part conflict with all that looking at `other` conflicts with?
    const fn covers(&self, other: &Part) -> bool {
        let within = self.first <= other.first && other.end <= self.end;
        self.space == other.space && within && !matches!(self.access(), Access::Adds)
    }

    fn of_uses(uses: Uses) -> Option<Part> {
        let (first, end) = uses.as_range()?;
        Some(Part {
            first,
            end,
            space: space::STATES,
            access: Access::changing(uses.changes()) as u32,
        })
    }

    /// The uses that it stands for, if it does.
    pub fn uses(&self) -> Option<Uses> {
        (self.space == space::STATES).then(|| Uses::of_range(self.first, self.end))
    }

    fn conflicts(&self, other: &Part) -> bool {
        if self.space == space::STATES {
            let both = self.uses().zip(other.uses());
            return both.is_some_and(|(mine, its)| mine.conflicts(its));
        }
        self.first < other.end
            && other.first < self.end
            && self.space == other.space
            && self.access().conflicts(other.access())
    }
}

/// Most threads in the sleep set of a job.
pub const MOST_SLEEPERS: usize = 256;

/// Bits of [`Footprint::marks`].
pub mod marks {
    /// Conflicts with every operation.
    pub const EVERYTHING: u16 = 1;
    /// Moves the virtual clock, or may: such operations conflict with each other, and with those that
    /// look at it. Whoever knows that nobody reads the clock takes the mark away.
    pub const CLOCK: u16 = 2;
    /// Conflicts with every operation of the thread `about`.
    pub const CANCELS: u16 = 4;
    /// Looks at the virtual clock and leaves it.
    pub const LOOKS: u16 = 8;

    /// Of a look at the clock, by the value of its record ([`look`](super::look)).
    pub const fn of_look(value: u64) -> u16 {
        match value {
            super::look::MOVED => CLOCK,
            _ => LOOKS,
        }
    }
}

/// The value of a [`Kind::ClockRead`] record.
pub mod look {
    /// The thread's first look at this clock, which leaves it wherever it comes.
    pub const FIRST: u64 = 0;
    /// The clock showed what the thread had seen before, and was moved on.
    pub const MOVED: u64 = 1;
    /// The clock had moved since the thread's last look.
    pub const LATER: u64 = 2;
    /// A wait of so long begins, whose end lies as far from here. The thread itself has seen nothing:
    /// where nobody looks at the clock in another way, it is no matter when that was.
    pub const BEGINS: u64 = 3;
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
    pub parts: [Part; 3],
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
        let adds = |len| [Part::with(space::MEMORY, at, len, Access::Adds), Part::NONE];
        let about = |s: u64| Part::new(space::THREADS, s, 1, true);
        let me = about(u64::from(event.thread));
        // What lies on another thread's stack is there until that thread ends.
        let lent_at = |at| match stack::slot_of(at) {
            Some(whose) if whose != event.thread && whose != slot::MAIN => {
                Part::new(space::THREADS, u64::from(whose), 1, false)
            }
            _ => Part::NONE,
        };
        let lent = || lent_at(at);
        let third = match kind {
            // Where its name is written, if that is anywhere.
            Kind::ThreadCreate if at != 0 => access(Event::THREAD_NAME, true),
            kind if kind.uses_object() => {
                let mutex = match kind {
                    Kind::CondWait => lent_at(event.value),
                    Kind::CondWake | Kind::CondLeave => lent_at(beside.mutex),
                    _ => Part::NONE,
                };
                match (lent(), mutex) {
                    (Part::NONE, mutex) => mutex,
                    (own, Part::NONE) => own,
                    (own, mutex) if own == mutex => own,
                    _ => return Footprint::everything(event.thread),
                }
            }
            _ => Part::NONE,
        };
        let ([first, second], mut marked) = match kind {
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
            // Readers come and go in any order.
            Kind::RwRead | Kind::RwTryRead if is_taken(event.value) => (adds(size::RWLOCK), 0),
            Kind::RwUnlock if event.aux & RW_READ != 0 => (adds(size::RWLOCK), 0),
            Kind::RwRead | Kind::RwTryRead => ([access(size::RWLOCK, false), Part::NONE], 0),
            // A writer that waited and barred readers does so no more.
            Kind::RwWrite if event.aux & RW_WRITERS_FIRST != 0 => {
                ([whole(size::RWLOCK), Part::NONE], 0)
            }
            Kind::RwWrite | Kind::RwTryWrite if !is_taken(event.value) => {
                ([access(size::RWLOCK, false), Part::NONE], 0)
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
            // Close to the greatest count there is, one post may let the other fail.
            Kind::SemPost if event.value == 0 && event.aux < MANY_TOKENS => (adds(size::SEM), 0),
            Kind::SemWait | Kind::SemPost | Kind::SemDestroy => ([whole(size::SEM), Part::NONE], 0),
            Kind::SemTryWait => (attempt(size::SEM), 0),
            Kind::SemTimedWait => (attempt(size::SEM), marks::CLOCK),
            Kind::SemGetValue => ([access(size::SEM, false), Part::NONE], 0),
            Kind::SpinTryLock => (attempt(size::WORD), 0),
            Kind::OnceEnter => ([access(size::WORD, event.value == 1), Part::NONE], 0),
            Kind::SpinLock | Kind::SpinUnlock | Kind::SpinDestroy | Kind::OnceDone => {
                ([whole(size::WORD), Part::NONE], 0)
            }
            Kind::Yield | Kind::Return | Kind::Fence | Kind::CancellationPoint => {
                ([Part::NONE; 2], 0)
            }
            Kind::Cancelled if event.announced().is_some_and(|e| leaves_no_trace(&e)) => {
                ([Part::NONE; 2], 0)
            }
            Kind::SignalReturn if event.aux & SIGNAL_OWN != 0 => ([Part::NONE; 2], 0),
            // The action of a signal, and what only the thread itself has.
            Kind::SignalSend | Kind::SignalHandler if event.aux & SIGNAL_OWN != 0 => {
                let action = kept::action_of((event.value & 0xff) as u32);
                ([Part::new(space::THREADS, action, 1, false), Part::NONE], 0)
            }
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
            Kind::Read | Kind::AtomicRead => ([access(bytes, false), lent()], 0),
            Kind::Write | Kind::AtomicWrite | Kind::Rmw => {
                ([access(bytes, !beside.idle), lent()], 0)
            }
            Kind::ReadRange => ([access(event.value, false), lent()], 0),
            Kind::WriteRange => ([access(event.value, true), lent()], 0),
            Kind::StateUse => match Part::of_uses(Uses::of_record(at, event.value)) {
                Some(uses) => ([uses, Part::NONE], 0),
                None => return Footprint::everything(event.thread),
            },
            Kind::DescriptorRead | Kind::DescriptorWrite | Kind::Poll if passes_bytes(event) => {
                let (manner, clock) = match kind {
                    Kind::Poll => (Access::Looks, marks::CLOCK),
                    _ => (Access::Changes, 0),
                };
                match Part::of_uses(Uses::one(place_of_object(at), manner)) {
                    Some(uses) => ([uses, Part::NONE], clock),
                    None => return Footprint::everything(event.thread),
                }
            }
            kind if is_only_about_its_object(kind, event) => {
                let place = Uses::one(place_of_object(at), Access::Changes);
                match Part::of_uses(place) {
                    Some(place) => ([place, Part::NONE], 0),
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
            parts: [first, second, third],
        }
    }

    /// The memory that it touches.
    pub fn memory(self) -> impl Iterator<Item = core::ops::Range<u64>> {
        let touched = |part: &Part| part.space == space::MEMORY && part.first < part.end;
        let parts = self.parts.into_iter().filter(touched);
        parts.map(|part| part.first..part.end)
    }

    /// The footprint of an operation of which nothing is known but the thread.
    pub const fn everything(thread: Slot) -> Footprint {
        Footprint {
            thread,
            marks: marks::EVERYTHING,
            about: slot::NONE,
            pad: 0,
            parts: [Part::NONE; 3],
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
            let [first, second, _] = &mut self.parts;
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

    fn moves_clock_of(&self, other: &Footprint) -> bool {
        self.marks & marks::CLOCK != 0 && other.marks & (marks::CLOCK | marks::LOOKS) != 0
    }

    /// Do the two operations conflict? Those of one thread always do.
    #[inline]
    pub fn conflicts(&self, other: &Footprint) -> bool {
        let either = self.marks | other.marks;
        self.thread == other.thread
            || either & marks::EVERYTHING != 0
            || self.moves_clock_of(other)
            || other.moves_clock_of(self)
            || (self.marks & marks::CANCELS != 0 && self.about == other.thread)
            || (other.marks & marks::CANCELS != 0 && other.about == self.thread)
            || self
                .parts
                .iter()
                .any(|mine| other.parts.iter().any(|its| mine.conflicts(its)))
    }
}

/// An operation that can always happen and that others cannot tell from none before it has: whatever they
/// do, a request to cancel its thread acts instead of it.
fn leaves_no_trace(announced: &Event) -> bool {
    let kind = announced.kind();
    kind.is_some_and(Kind::accesses)
        || matches!(
            kind,
            Some(
                Kind::MutexUnlock
                    | Kind::Yield
                    | Kind::Return
                    | Kind::Fence
                    | Kind::CancellationPoint
            )
        )
}

/// Children of threads other than main are named by a hash, which may clash: then the order of
/// their creation decides who gets the name.
fn names(child: u64) -> Part {
    match child >= u64::from(slot::FIRST_NESTED) {
        true => Part::new(space::THREADS, 1 << 32, 1, true),
        false => Part::NONE,
    }
}

/// Bytes pass through a pipe or an event counter, or there are none, or no place, or it is asked for
/// these: nothing else is changed (no signal is sent, no descriptor made).
pub fn passes_bytes(event: &Event) -> bool {
    let channels = [What::Pipe, What::Fifo, What::Event];
    let is_channel = what_of(event.object).is_some_and(|what| channels.contains(&what));
    is_channel && (event.value as i64 >= 0 || event.value == NOTHING_THERE)
}

/// A lock of a file, a message or an operation on a set of semaphores that was done, or found nothing to
/// do: others see that by the same object alone, unless there was a deadline or somebody is to be told.
fn is_only_about_its_object(kind: Kind, event: &Event) -> bool {
    let objects: &[What] = match kind {
        Kind::FileLock | Kind::FileUnlock => &[What::File],
        Kind::QueueSend | Kind::QueueReceive => &[What::Queue, What::Messages],
        Kind::SemaphoreSet => &[What::Semaphores],
        _ => return false,
    };
    let is_of_these = what_of(event.object).is_some_and(|what| objects.contains(&what));
    is_of_these && event.size == 0 && (event.value as i64 >= 0 || event.value == NOTHING_THERE)
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

/// A semaphore's count from which on posts conflict. The greatest one is 2^31 - 1, and no execution has
/// so many steps as lie between.
const MANY_TOKENS: u32 = 1 << 30;

fn timed_out(kind: Kind, value: u64) -> bool {
    let may = matches!(kind, Kind::RwRead | Kind::RwWrite | Kind::FutexResume);
    may && value == u64::from(TIMED_OUT)
}

#[cfg(test)]
mod tests;
