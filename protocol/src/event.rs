//! The event: one visible operation of one thread.
//!
//! # When an event happens
//! A thread that reaches a visible operation *announces* it and stops at the gate. The policy then
//! chooses among the threads whose announced operation can complete now (is *enabled*). The chosen
//! thread performs its operation, and that is the instant of the event: the record is written
//! after the operation took effect and before anything else of any thread runs. So the order of
//! the records is the interleaving, and the n-th step of the schedule is the n-th record whose
//! kind [`Kind::is_step`].
//!
//! A [`Kind::Choice`] record belongs to the step before it (which waiter a signal wakes). So does one
//! of what another process did ([`crate::schedule::FACT`]), which has no alternatives: its count is 0.
//! [`Kind::Enabled`] records, written where the job asks for them, stand *before* the step that
//! was chosen from them; [`Kind::Stack`] records stand where the operation is announced.

use crate::Slot;

/// One record of the trace; 32 bytes, written by the runtime, read by everyone else.
///
/// The meaning of `size`, `aux`, `object` and `value` is per [`Kind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(C)]
pub struct Event {
    /// A [`Kind`] as a number.
    pub kind: u8,
    /// Bytes accessed (1, 2, 4, 8), or as the kind says.
    pub size: u8,
    /// Who did it.
    pub thread: Slot,
    /// Expression index (0: concrete) or as the kind says.
    pub aux: u32,
    /// Address of the object.
    pub object: u64,
    /// Value read or written, result, or as the kind says.
    pub value: u64,
    /// Return address into the program of the intercepted call or hook.
    pub pc: u64,
}

const _: () = assert!(core::mem::size_of::<Event>() == 32);

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $n:literal, $step:literal, $text:literal;)*) => {
        /// What an event is. Numbers are part of the format.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Kind { $($(#[$doc])* $name = $n,)* }

        impl Kind {
            /// Every kind.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)*];

            /// Decodes a record's `kind`; `None` for a number that this version does not know.
            #[inline]
            pub const fn from_u8(n: u8) -> Option<Kind> {
                match n { $($n => Some(Kind::$name),)* _ => None }
            }

    /// Is it an access to memory of so many bytes, one by one or all together?
    pub const fn accesses(self) -> bool {
        use Kind::{AtomicRead, AtomicWrite, Read, ReadRange, Rmw, Write, WriteRange};
        matches!(
            self,
            Read | Write | Rmw | AtomicRead | AtomicWrite | ReadRange | WriteRange
        )
    }

            /// Does an event of this kind consume one step of the schedule?
            #[inline]
            pub const fn is_step(self) -> bool {
                match self { $(Kind::$name => $step,)* }
            }

            /// Is it an operation on a descriptor (a kind of 160 to 189)?
            pub const fn is_descriptor(self) -> bool {
                matches!(self as u8, 160..=189)
            }

            /// What people read in an interleaving.
            pub const fn text(self) -> &'static str {
                match self { $(Kind::$name => $text,)* }
            }
        }
    };
}

kinds! {
    /// First step of a thread, before its start routine. `object`: start routine. Main has none.
    ThreadStart = 1, true, "thread starts";
    /// Last step of a thread, after its destructors. `value`: return value; `aux`: 1 if it leaves a
    /// robust mutex locked.
    ThreadExit = 2, true, "thread ends";
    /// `value`: slot of the child ([`crate::slot::NONE`] if none was made); `object`: where its name is
    /// written (0: nowhere that the program sees); `aux`: expression of the argument; `size`: 1 if the
    /// child is made detached.
    ThreadCreate = 3, true, "pthread_create";
    /// `value`: slot of the joined thread; `aux`: result; `size`: 1 if a request to cancel the thread was
    /// pending, which would have ended the wait for one that has not ended. Also what main does after pthread_exit where
    /// schedules are explored: it ends the process after all others.
    ThreadJoin = 4, true, "pthread_join";
    /// `value`: slot of the detached thread; `aux`: result.
    ThreadDetach = 5, true, "pthread_detach";
    /// `value`: slot of the thread to cancel.
    ThreadCancel = 6, true, "pthread_cancel";
    /// Instead of the operation that the thread had announced it acts on a request to cancel it. All is as
    /// in a [`Kind::Pending`] record of that operation, but `thread` and [`PENDING_ENABLED`] (without the
    /// request it could have happened as well). A wait for a condition has a [`Kind::CondWake`] instead,
    /// and a sleep its own record.
    Cancelled = 27, true, "cancelled";
    /// A call that acts on a request to cancel its thread also where it does not wait, before anything else:
    /// there was no request.
    CancellationPoint = 28, true, "cancellation point";
    /// Announced by exit, _exit and a return from main before they take effect, so that the end of
    /// the process is a step of its own and other threads may come before it; in runs with
    /// [`crate::shared::flags::SYMBOLIC`] or [`crate::shared::flags::EXHAUSTIVE`] also where nobody
    /// else is alive, and by abort, a failed assertion and a failed assumption. `value`: the exit
    /// status or signal.
    ProcessEnd = 7, true, "process ends";
    /// In runs with [`crate::shared::flags::EXHAUSTIVE`]: main has ended, for those that join it, and
    /// stays until all others have (see [`Kind::ThreadJoin`]).
    ThreadLeave = 8, true, "thread ends";
    /// An attempt to join that does not wait. Fields as [`Kind::ThreadJoin`]; `aux`: 0 or EBUSY.
    ThreadTryJoin = 9, true, "pthread_tryjoin_np";
    /// A join with a deadline. Fields as [`Kind::ThreadJoin`]; `aux`: 0 or ETIMEDOUT.
    ThreadTimedJoin = 16, true, "pthread_timedjoin_np";

    /// exit, quick_exit or a return from main goes on to the next handler that the program has
    /// registered (atexit and its kin, destructors of static objects), or finds that none is left.
    /// `object`: 1 for those of exit, 2 for those of quick_exit; `value`: how many there are.
    ExitNext = 17, true, "exit";
    /// Such a handler is registered, once there has been a second thread. `object` as in
    /// [`Kind::ExitNext`]; `value`: how many there are before it.
    AtExit = 18, true, "atexit";
    /// In runs with [`crate::shared::flags::EXHAUSTIVE`] or [`crate::shared::flags::SYMBOLIC`]: looks at
    /// something that is kept of a thread, a signal or a timer, or changes it, or looks at the clock.
    /// `object`: see [`crate::conflict::kept`]; `value`: 1 if it changes it.
    Ask = 19, true, "call about a thread, a signal, a timer or the clock";

    /// `object`: mutex. Written when the mutex has been acquired. `value`: result (errno).
    MutexLock = 10, true, "mutex_lock";
    /// `value`: 0 or EBUSY.
    MutexTryLock = 11, true, "mutex_trylock";
    /// `value`: 0 or ETIMEDOUT.
    MutexTimedLock = 12, true, "mutex_timedlock";
    /// `object`: mutex.
    MutexUnlock = 13, true, "mutex_unlock";
    /// `object`: mutex.
    MutexInit = 14, true, "mutex_init";
    /// `object`: mutex.
    MutexDestroy = 15, true, "mutex_destroy";

    /// The thread released the mutex and began to wait. `object`: condition; `value`: mutex; `aux`:
    /// 1 if the wait has a deadline. With [`crate::shared::flags::SPURIOUS`] a [`Kind::Choice`]
    /// follows: 1 if it will wake for no reason.
    CondWait = 20, true, "cond_wait";
    /// The waiter holds its mutex again. `object`: condition; `value`: 0, ETIMEDOUT or
    /// ECANCELED.
    CondWake = 21, true, "cond_wait returns";
    /// `object`: condition; `value`: slot of the woken thread, or [`crate::slot::NONE`].
    CondSignal = 22, true, "cond_signal";
    /// `object`: condition; `value`: how many woke.
    CondBroadcast = 23, true, "cond_broadcast";
    /// `object`: condition.
    CondDestroy = 24, true, "cond_destroy";
    /// The waiter's time ran out, or it was cancelled, while another thread held its mutex; now it
    /// waits for the mutex, and [`Kind::CondWake`] follows. `object`: condition; `value`: ETIMEDOUT
    /// or ECANCELED.
    CondLeave = 25, true, "cond_wait gives up";
    /// Not a step, as the initialisations below: the object begins a new life. `object`: condition.
    CondInit = 26, false, "cond_init";

    /// `object`: lock; `value`: result; `aux`: [`RW_TIMED`] and [`RW_WRITERS_FIRST`].
    RwRead = 30, true, "rwlock_rdlock";
    /// Fields as [`Kind::RwRead`].
    RwWrite = 31, true, "rwlock_wrlock";
    /// `object`: lock; `value`: 0 or EBUSY.
    RwTryRead = 32, true, "rwlock_tryrdlock";
    /// `object`: lock; `value`: 0 or EBUSY.
    RwTryWrite = 33, true, "rwlock_trywrlock";
    /// `object`: lock; `aux`: [`RW_READ`] if it was held to read.
    RwUnlock = 34, true, "rwlock_unlock";
    /// `object`: lock.
    RwDestroy = 35, true, "rwlock_destroy";
    /// At a lock whose waiting writers bar readers ([`RW_WRITERS_FIRST`]): the writer waits from now
    /// on, and [`Kind::RwWrite`] follows. `object`: lock.
    RwQueue = 36, true, "rwlock_wrlock waits";
    /// `object`: lock.
    RwInit = 37, false, "rwlock_init";

    /// `object`: barrier; `value`: 1 if this thread completes the round.
    BarrierArrive = 40, true, "barrier_wait";
    /// `object`: barrier; `value`: result.
    BarrierLeave = 41, true, "barrier_wait returns";
    /// `object`: barrier.
    BarrierDestroy = 42, true, "barrier_destroy";
    /// `object`: barrier.
    BarrierInit = 43, false, "barrier_init";

    /// `object`: semaphore; `value`: result; `aux`: the count after it (also in the next three).
    SemWait = 50, true, "sem_wait";
    /// `object`: semaphore; `value`: 0 or EAGAIN.
    SemTryWait = 51, true, "sem_trywait";
    /// `object`: semaphore; `value`: 0 or ETIMEDOUT.
    SemTimedWait = 52, true, "sem_timedwait";
    /// `object`: semaphore.
    SemPost = 53, true, "sem_post";
    /// `object`: semaphore; `value`: the count.
    SemGetValue = 54, true, "sem_getvalue";
    /// `object`: semaphore.
    SemDestroy = 55, true, "sem_destroy";
    /// `object`: semaphore.
    SemInit = 56, false, "sem_init";

    /// `object`: lock.
    SpinLock = 60, true, "spin_lock";
    /// `object`: lock; `value`: 0 or EBUSY.
    SpinTryLock = 61, true, "spin_trylock";
    /// `object`: lock.
    SpinUnlock = 62, true, "spin_unlock";
    /// `object`: lock.
    SpinInit = 63, false, "spin_init";
    /// `object`: lock.
    SpinDestroy = 64, true, "spin_destroy";

    /// `object`: control; `value`: 1 when this thread runs the routine; `size`: 1 if it is the guard
    /// of a C++ variable, which the compiler's code reads as well.
    OnceEnter = 65, true, "once";
    /// `object`: control; `value`: 0: the routine has returned, 1: it was left by an exception or a
    /// cancellation; `size` as in [`Kind::OnceEnter`].
    OnceDone = 66, true, "once done";

    /// sched_yield and its kin.
    Yield = 70, true, "yield";
    /// `value`: virtual nanoseconds since the start, at its end.
    Sleep = 71, true, "sleep";
    /// A futex wait through `syscall`. `object`: address; `value`: 0: the thread began to wait,
    /// [`Kind::FutexResume`] ends it; EAGAIN: the word was not as expected. `aux`: 1 if the wait
    /// has a deadline; `size`: 1 if it is at further words, too.
    FutexWait = 72, true, "futex_wait";
    /// `object`: address; `value`: how many woke; `size`: 1 if it also moved waiters or changed a
    /// word, elsewhere.
    FutexWake = 73, true, "futex_wake";
    /// The waiter goes on. `object`: address where it last stood; `value`: 0 or ETIMEDOUT; `size`:
    /// 1 if it stood at further words, too.
    FutexResume = 76, true, "futex_wait returns";

    /// sigwait and its kin, pause, sigsuspend. `value`: the signal.
    SignalWait = 74, true, "sigwait";
    /// A signal sent to a thread or to the process itself. `value`: the signal in the low eight
    /// bits, above them the slot of the thread, or [`crate::slot::NONE`] for the process; `aux`: 0 or
    /// [`SIGNAL_OWN`].
    SignalSend = 75, true, "kill";

    /// `object`: block; `value`: its size, or 0 if nothing was freed.
    Free = 80, true, "free";
    /// In runs with [`crate::shared::flags::EXHAUSTIVE`] or [`crate::shared::flags::SYMBOLIC`]: memory is
    /// about to be unmapped, moved, protected, or given another content, by a call that acts on pages
    /// (munmap, mremap, mprotect, mmap with MAP_FIXED, shmdt, madvise). `object`: its first byte;
    /// `value`: how many pages, and what else the call uses ([`crate::uses::Uses::of_pages`]).
    Remap = 81, true, "pages change";

    /// `object`: address; `value`: value read; `aux`: 0 ([`Event::UNSURE`]), the reader names it by index.
    Read = 90, true, "read";
    /// `object`: address; `value`: value written; `aux`: its expression.
    Write = 91, true, "write";
    /// Atomic read-modify-write, compare-exchange included (a failed one writes the old value).
    /// `value`: value written; `aux`: its expression; the value read is named by index.
    Rmw = 92, true, "atomic update";
    /// Atomic read. Fields as [`Kind::Read`].
    AtomicRead = 93, true, "atomic read";
    /// Atomic write. Fields as [`Kind::Write`].
    AtomicWrite = 94, true, "atomic write";
    /// A memory fence. `value`: C11 order, or [`Event::ASSEMBLY`].
    Fence = 95, true, "fence";
    /// A block read at once. `value`: bytes; `aux`: 1 for the rest of one that is copied word by word,
    /// and too long for that; `size`: [`Event::NO_ACCESS`], or 0.
    ReadRange = 96, true, "read block";
    /// A block written at once. Fields as [`Kind::ReadRange`].
    WriteRange = 97, true, "write block";
    /// In runs with [`crate::shared::flags::EXHAUSTIVE`]: a call of the C library, which begins here, or
    /// has had a step of its own before. `object`, `value`: what it does to what the library and the
    /// kernel keep, see [`crate::uses::Uses::record`].
    StateUse = 98, true, "uses what the C library keeps";

    /// A handler of the program begins, on the thread that it interrupts. `object`: the handler;
    /// `value`: the signal; `aux`: 0 or [`SIGNAL_OWN`].
    SignalHandler = 130, true, "signal handler";
    /// The handlers that a call let run have returned (raise, an unblocking sigmask), or pause is
    /// about to wait: no effect of its own. `aux`: [`SIGNAL_OWN`], unless it took in what came from
    /// outside.
    SignalReturn = 131, true, "handlers done";
    /// A virtual timer is set or disarmed. `object`: the timer; `value`: virtual nanoseconds of
    /// its next expiry (0: none).
    TimerSet = 132, true, "timer is set";
    /// A virtual timer expires. `object`: the timer; `value`: virtual nanoseconds.
    TimerExpire = 133, true, "timer expires";
    /// wait, waitpid and their kin. `value`: the child, 0 if none.
    ChildWait = 134, true, "waitpid";
    /// A child process is made: fork, vfork, posix_spawn, system, popen. `value`: its id is not
    /// recorded, it differs between executions; 0 if none is made (daemon, exec).
    ChildMade = 135, true, "fork";
    /// sem_open, sem_close, sem_unlink. `object`: the semaphore (0: none).
    SemName = 136, true, "named semaphore";
    /// futex FUTEX_LOCK_PI. `object`: the word; `value`: result.
    FutexLock = 137, true, "futex lock";
    /// futex FUTEX_TRYLOCK_PI. `object`: the word; `value`: result.
    FutexTryLock = 138, true, "futex trylock";
    /// futex FUTEX_UNLOCK_PI. `object`: the word; `value`: result.
    FutexUnlock = 139, true, "futex unlock";
    /// A call that lets others go on, or shows them something, returns to code whose accesses to
    /// memory are no steps ([`crate::shared::flags::RETURNS`]): no effect of its own.
    Return = 140, true, "returns";
    /// A call by which threads of an OpenMP program share out work; the step comes before the call.
    OpenMpCall = 200, true, "OpenMP call";

    /// Not a step: the thread goes round a loop at `pc` that changes nothing, and waits until
    /// something that the loop reads has changed. One record for each thing that it reads: `value`
    /// is what it found in the `size` bytes at `object`; `size` 0: the thread `object` had not ended.
    /// It may have changed since, and then nothing is waited for.
    Parked = 201, false, "waits for a change";
    /// Not a step: the thread goes round a loop at `pc` of which too little is known; another one
    /// goes first, if there is one. Schedules in which none does are left out. `value`: 1 where the next
    /// step is not this thread's if another thread can take one; 0 where it waits as [`Kind::Parked`] says.
    PassedOver = 202, false, "lets others go first";

    /// The threads from which the next step was chosen. `size`: how many slots are in this record
    /// (at most 12); `object`, `value`, `pc` hold them, four 16-bit slots each, low bits first;
    /// `aux`: how many of the enabled ones are still to come in further records; `thread`: the
    /// thread that was running ([`crate::slot::NONE`] when it has ended).
    Enabled = 110, false, "enabled";
    /// A choice other than of a thread. `value`: what was chosen; `aux`: of how many.
    Choice = 111, false, "choice";
    /// Content of a location before any recorded access to it. `object`, `size`, `value`. In runs
    /// with [`crate::shared::flags::SYMBOLIC`], with a size of 0: a semaphore or a barrier is
    /// initialised with this count; or, with an `aux` of 1, another object.
    Init = 112, false, "initial value";
    /// A symbolic input came into being. `object`: address; `value`: index of the input in its
    /// thread; `aux`: its first expression; `size`: unused. The length is in the expression nodes.
    Input = 113, false, "input";
    /// A decision on a symbolic value: a branch, a switch, or a value that had to be concrete.
    /// `aux`: the expression; `value`: the outcome taken; `size`: a [`crate::expr::Why`].
    Branch = 114, false, "branch";
    /// `raddle_assume`: as [`Kind::Branch`], but outcomes other than the one taken are of no
    /// interest. `value`: 1 if it held, 0 if the execution stops here.
    Assume = 115, false, "assume";
    /// An operation on symbolic values that cannot be followed; its result is concrete.
    /// `size`: a [`crate::expr::Why`].
    Lost = 116, false, "not followed";
    /// A location taken for local was touched by a second thread. `object`: address; `value`:
    /// bytes; `aux`: 1 if nothing tells that it was, but its thread may wait for that.
    Shared = 117, false, "found shared";
    /// Not a step: a block was allocated. `object`, `value` as in [`Kind::Free`].
    Malloc = 118, false, "malloc";
    /// In runs with [`crate::shared::flags::SYMBOLIC`] or [`crate::shared::flags::ENABLED`], at the
    /// end of the execution (whatever ended it): one record for each thread that has announced an
    /// operation which did not happen.
    /// `size`: its [`Kind`]; `object`, `value` (what is known before: slot of the thread to join,
    /// bytes of a range), `pc` as in that kind's own record; `aux`: that of a [`Kind::RwRead`] and
    /// a [`Kind::RwWrite`], else 0, but in runs with
    /// [`crate::shared::flags::EXHAUSTIVE`], which have these records as well, the bytes of an
    /// access or of a futex wait, [`RW_WRITERS_FIRST`] of a [`Kind::RwRead`], [`RW_READ`] of a
    /// [`Kind::RwUnlock`], [`PENDING_TIMED`] and [`PENDING_ENABLED`].
    Pending = 119, false, "waits to do";
    /// Follows [`Kind::Input`] where the program named the input, and [`Kind::Lost`] where that was
    /// the call of a function: `object`, `value` and `pc` hold the first bytes of the name,
    /// NUL-padded (see [`Event::names`]); of a longer one more such records follow.
    Name = 120, false, "name";
    /// In runs with [`crate::shared::flags::SYMBOLIC`], at the end of the execution (whatever
    /// ended it): a run of bytes outside the job's ranges that only this thread has touched, or
    /// that several have only read (`thread`: [`crate::slot::NONE`]). `object`: the first;
    /// `value`: how many; `size`: 1 if it was written. Two executions together thus show that a
    /// location is shared, also when no single one does.
    Private = 121, false, "kept to itself";
    /// In runs with [`crate::shared::flags::STACKS`]: who called the operation that `thread`
    /// announces here. `object`, `value`, `pc`: return addresses behind that operation's own `pc`,
    /// innermost first (0: none); `size`: how many are in this record; `aux`: how many were in
    /// earlier records of the same announcement, so that 0 begins a new one. An announcement has at
    /// least one record, also when no caller is known.
    Stack = 122, false, "called from";

    /// In runs with [`crate::shared::flags::SYMBOLIC`]: a round begins of a loop that hands nothing
    /// from round to round and only reads, or updates memory atomically. `pc`: which loop; `value`:
    /// 1 if the thread comes from the round before and that changed nothing, so that it stands
    /// where it stood when that began.
    Round = 123, false, "goes round";
    /// In runs with [`crate::shared::flags::SYMBOLIC`], where an atomic section of the program begins
    /// (`__VERIFIER_atomic_begin`): what others do comes before or after it as a whole. `object`: the
    /// mutex that is held in all of them.
    Section = 124, false, "atomic section";
    /// Not a step: memory was mapped (mmap, mremap, shmat). `object`: its first byte; `value`: bytes.
    Mapped = 125, false, "mmap";
    /// In runs with [`crate::shared::flags::STACKS`], where `thread` begins: its thread-local
    /// variables of one module. `object`: the first byte; `value`: bytes; `pc`: what is added to the
    /// addresses in the module's file.
    ThreadLocal = 126, false, "thread-local variables";
    /// In runs with [`crate::shared::flags::SYMBOLIC`], where a word is first used as a futex: what
    /// stands for it, a mutex and a condition variable. `object`: where they lie; `aux`: in how many
    /// bytes; `value`: the word.
    Futex = 127, false, "futex";
    /// In runs with [`crate::shared::flags::SYMBOLIC`]: a word that stands for what the C library or
    /// the kernel keeps between calls; [`Kind::Name`] records with its name follow. `object`: its first
    /// byte; `aux`: bytes.
    State = 128, false, "state";

    /// In runs with [`crate::shared::flags::EXHAUSTIVE`] or [`crate::shared::flags::SYMBOLIC`]:
    /// somebody looked at the virtual clock, as part of the step of `thread` before this record.
    /// `value`: see [`crate::conflict::look`].
    ClockRead = 210, false, "looks at the clock";
    /// In runs with [`crate::shared::flags::EXHAUSTIVE`]: the step of `thread` whose record follows
    /// had a deadline, so that it could be taken at any time.
    Timed = 211, false, "has a deadline";
    /// Not a step: the thread, whose [`Kind::ThreadExit`] this follows, was the owner of a robust mutex.
    /// `object`: the mutex.
    Orphaned = 218, false, "leaves a robust mutex";
    /// Not a step: a call failed because its descriptor is not open. `aux`: the descriptor.
    NotOpen = 212, false, "use of a closed descriptor";
    /// Not a step: what `thread` has done happens before what any thread does after a
    /// [`Kind::TakenOver`] of the same object, because the C library keeps both in order. `object`: what
    /// handlers are registered for (see [`handlers`]).
    HandedOn = 215, false, "hands on";
    /// See [`Kind::HandedOn`]. `object`: what runs its handlers now.
    TakenOver = 216, false, "takes over";
    /// In runs with [`crate::shared::flags::ENABLED`]: the wait in which `thread` is ends by its time,
    /// or a timer expires, though others could go on: with faster ones it would not. `size`: its
    /// [`Kind`]; `value`: how long it was, in nanoseconds; `object`, `pc` as in that kind's own record.
    Early = 217, false, "ends early by its time";
    /// Stands directly before the record of an atomic operation of the same thread whose C11 order
    /// is not `memory_order_seq_cst`, or that is a failed compare-exchange. `value`: the order, of
    /// a failed compare-exchange that of the failure; `aux`: 1 if it is a failed compare-exchange,
    /// which is no write.
    Order = 220, false, "order";
    /// In runs with [`crate::shared::flags::EXHAUSTIVE`], before the record of a [`Kind::Write`], a
    /// [`Kind::AtomicWrite`] or a [`Kind::Rmw`] of at most eight bytes (and before its
    /// [`Kind::Order`]), and before the [`Kind::Pending`] of such an access: what it finds and what it
    /// makes of that, see [`crate::update::Operands::record`]. Of a [`Kind::FutexWait`] at one word:
    /// that changes its queue if a compare-exchange with these operands would change the word.
    Operands = 222, false, "operands";
    /// A memory fence in a run with [`crate::shared::flags::SYMBOLIC`], where it is no step. `value`:
    /// C11 order, or [`Event::ASSEMBLY`].
    Fenced = 221, false, "fence";

    /// What the program says by an annotation for ThreadSanitizer: it has seen what was before the
    /// [`Kind::Release`] of this object, whatever carried it over. `object`: any address.
    Acquire = 190, true, "acquire (annotated)";
    /// See [`Kind::Acquire`].
    Release = 191, true, "release (annotated)";

    // Descriptors. `object`: see [`crate::descriptor`] (0: several, or none); `aux`: the
    // descriptor; `value`: the result as the system call gives it (negative: minus an errno). A
    // step that found nothing to do is recorded with -EAGAIN, and another one follows. These
    // operations move data between the program's memory and the kernel and change what others on
    // other descriptors see (a write fills the peer's queue, a close ends a peer's wait): two of
    // them are independent only if neither's object can reach the other's.
    /// Not a step: an object came into being. `value`: its descriptors, the second one (0: none)
    /// in the upper half; or the id of one of System V.
    DescriptorMade = 160, false, "descriptor made";
    /// read, recv and their kin.
    DescriptorRead = 161, true, "read";
    /// write, send and their kin. A blocking write of more than PIPE_BUF bytes to a pipe is
    /// several.
    DescriptorWrite = 162, true, "write";
    /// `value`: the new descriptor.
    Accept = 163, true, "accept";
    /// A connection is asked for; where that waits, another record says how it went.
    Connect = 164, true, "connect";
    /// poll, select and their kin. `object`: 0 unless it is the only one.
    Poll = 165, true, "poll";
    /// epoll_wait. `object`: the epoll.
    EpollWait = 166, true, "epoll_wait";
    /// `object`: the epoll; `aux`: the descriptor that is put in, changed or taken out.
    EpollControl = 167, true, "epoll_ctl";
    /// The descriptor is closed.
    Close = 168, true, "close";
    /// A connection is shut down, in part or as a whole.
    Shutdown = 169, true, "shutdown";
    /// A file is locked (flock, and locks of open file descriptions).
    FileLock = 170, true, "file lock";
    /// Its counterpart.
    FileUnlock = 171, true, "file unlock";
    /// A named pipe is opened; where that waits for the other side, another record follows.
    FifoOpen = 172, true, "open";
    /// splice, tee, sendfile. `object`: where to.
    Transfer = 173, true, "transfer";
    /// listen, or a name given to a socket.
    Listen = 174, true, "listen";
    /// mq_send, mq_timedsend, msgsnd. `size`: 1 if the call has a deadline, or somebody is to be told
    /// of the next message.
    QueueSend = 175, true, "message sent";
    /// mq_receive, mq_timedreceive, msgrcv. `value`: its bytes; `size` as in [`Kind::QueueSend`].
    QueueReceive = 176, true, "message received";
    /// semop, semtimedop. `object`: the set; `size`: 1 if the call has a deadline.
    SemaphoreSet = 177, true, "semop";
    /// Not a step: in runs with [`crate::shared::flags::SYMBOLIC`], directly after the
    /// [`Kind::DescriptorRead`] or [`Kind::DescriptorWrite`] of a pipe or an event counter that nobody
    /// outside can reach, by a call that waits and moves what it moves as a whole: `aux`: how many
    /// bytes the call asked for; `object`, `value`, `pc`: `size` of the bytes that it moved, at most
    /// 24 (see [`Event::name_bytes`]). As many records as it takes, at least one.
    Moved = 213, false, "bytes moved";
    /// A message queue or a set of semaphores is opened, looked at, changed or removed, by other
    /// calls than these. `object`: 0 where it has none yet.
    QueueControl = 178, true, "queue or semaphores";
}

/// In `aux` of a [`Kind::Pending`] record: the operation has a deadline.
pub const PENDING_TIMED: u32 = 1 << 16;
/// In `aux` of a [`Kind::Pending`] record: the operation could happen now.
pub const PENDING_ENABLED: u32 = 1 << 17;

/// What handlers are registered for: the objects of [`Kind::HandedOn`]. No address is that low.
pub mod handlers {
    /// `atexit` and its kin.
    pub const EXIT: u64 = 1;
    /// `at_quick_exit`.
    pub const QUICK_EXIT: u64 = 2;
    /// `pthread_atfork`.
    pub const FORK: u64 = 3;

    /// This signal.
    pub const fn signal(number: u64) -> u64 {
        0x100 + number
    }
}

/// In `aux` of [`Kind::RwRead`] and [`Kind::RwWrite`]: the operation has a deadline.
pub const RW_TIMED: u32 = 1;
/// In `aux` of [`Kind::RwRead`] and [`Kind::RwWrite`]: writers that wait bar readers.
pub const RW_WRITERS_FIRST: u32 = 2;
/// In `aux` of [`Kind::RwUnlock`]: the thread held the lock to read.
pub const RW_READ: u32 = 4;

/// In `aux` of [`Kind::SignalSend`], [`Kind::SignalHandler`] and [`Kind::SignalReturn`]: besides the
/// action of the signal, the step concerns its own thread alone. The thread sent a signal to itself,
/// which is ignored or takes effect before the call returns.
pub const SIGNAL_OWN: u32 = 1;

/// Return addresses that one [`Kind::Stack`] record holds.
const CALLERS_A_RECORD: usize = 3;

impl Kind {
    /// Is it an operation on a lock, a condition, a semaphore, a barrier or a once control, which touches
    /// the object's memory?
    pub const fn uses_object(self) -> bool {
        use Kind::{BarrierArrive, BarrierDestroy, OnceDone, OnceEnter};
        use Kind::{CondBroadcast, CondDestroy, CondLeave, CondSignal, CondWait, CondWake};
        use Kind::{MutexDestroy, MutexInit, MutexUnlock};
        use Kind::{MutexLock, MutexTimedLock, MutexTryLock};
        use Kind::{RwDestroy, RwQueue, RwRead, RwTryRead, RwTryWrite, RwUnlock, RwWrite};
        use Kind::{SemDestroy, SemGetValue, SemPost, SemTimedWait, SemTryWait, SemWait};
        use Kind::{SpinDestroy, SpinLock, SpinTryLock, SpinUnlock};
        matches!(
            self,
            MutexLock | MutexTryLock | MutexTimedLock | MutexUnlock | MutexInit | MutexDestroy
        ) || matches!(
            self,
            CondWait | CondWake | CondLeave | CondSignal | CondBroadcast | CondDestroy
        ) || matches!(
            self,
            RwRead | RwWrite | RwTryRead | RwTryWrite | RwQueue | RwUnlock | RwDestroy
        ) || matches!(
            self,
            SemWait | SemTryWait | SemTimedWait | SemPost | SemGetValue | SemDestroy
        ) || matches!(self, SpinLock | SpinTryLock | SpinUnlock | SpinDestroy)
            || matches!(self, BarrierArrive | BarrierDestroy | OnceEnter | OnceDone)
    }

    /// Does it join a thread, or try to?
    pub const fn joins(self) -> bool {
        matches!(
            self,
            Kind::ThreadJoin | Kind::ThreadTryJoin | Kind::ThreadTimedJoin
        )
    }

    /// Does an operation of this kind let others go first, or can it go on only because time runs
    /// out? To choose another thread before it is no preemption.
    pub const fn gives_way(self) -> bool {
        matches!(
            self,
            Kind::Yield | Kind::Sleep | Kind::CondWake | Kind::FutexResume | Kind::SignalWait
        )
    }

    /// Is it no step, and do [`Kind::Stack`] records stand before it as before steps?
    pub const fn is_told_with_callers(self) -> bool {
        matches!(
            self,
            Kind::Malloc
                | Kind::Mapped
                | Kind::CondInit
                | Kind::RwInit
                | Kind::BarrierInit
                | Kind::SemInit
                | Kind::SpinInit
                | Kind::NotOpen
        )
    }
}

impl Event {
    /// The record of the operation of a [`Kind::Pending`] or a [`Kind::Cancelled`] record, as far as it is
    /// known. `None`: of no kind that there is.
    pub fn announced(&self) -> Option<Event> {
        let kind = Kind::from_u8(self.size)?;
        Some(Event {
            kind: self.size,
            size: (self.aux & 0xff) as u8,
            aux: match kind {
                Kind::RwRead => self.aux & RW_WRITERS_FIRST,
                Kind::RwUnlock => self.aux & RW_READ,
                _ => 0,
            },
            ..*self
        })
    }
    /// The `size` of a [`Kind::OnceEnter`] and a [`Kind::OnceDone`]: the object is the guard of a
    /// static variable of C++.
    pub const GUARD: u8 = 1;
    /// The same, and what is written to the guard is recorded as accesses are.
    pub const FOLLOWED_GUARD: u8 = 2;

    /// In the record of a [`Kind::Fence`]: inline assembly, which may do anything to memory.
    pub const ASSEMBLY: u64 = 6;

    /// In the record of a [`Kind::ReadRange`] or a [`Kind::WriteRange`]: it is in conflict with others,
    /// but the program need not access these bytes. A function of a library may do so in part, or what
    /// lies there stands for something that the library keeps.
    pub const NO_ACCESS: u8 = 1;
    /// `aux` of a read of which it is not sure that it happens: it races with nobody.
    pub const UNSURE: u32 = u32::MAX;

    /// Bytes of the name of a thread, which a [`Kind::ThreadCreate`] writes.
    pub const THREAD_NAME: u64 = 8;

    /// Most return addresses that are written in [`Kind::Stack`] records for one operation.
    pub const CALLERS: usize = 32;

    /// The [`Kind::Stack`] records for these return addresses (the first [`Event::CALLERS`]).
    pub fn stack(thread: Slot, callers: &[usize]) -> impl Iterator<Item = Event> + '_ {
        let callers = &callers[..callers.len().min(Event::CALLERS)];
        let records = callers.len().div_ceil(CALLERS_A_RECORD).max(1);
        (0..records).map(move |n| {
            let before = n * CALLERS_A_RECORD;
            let here = &callers[before..];
            let word = |i: usize| here.get(i).map_or(0, |&address| address as u64);
            Event {
                kind: Kind::Stack as u8,
                size: here.len().min(CALLERS_A_RECORD) as u8,
                thread,
                aux: before as u32,
                object: word(0),
                value: word(1),
                pc: word(2),
            }
        })
    }

    /// The return addresses in a [`Kind::Stack`] record.
    pub fn callers(&self) -> impl Iterator<Item = u64> + '_ {
        let words = [self.object, self.value, self.pc];
        words.into_iter().take(usize::from(self.size))
    }

    /// The decoded kind; `None` for a number that this version does not know.
    #[inline]
    pub const fn kind(&self) -> Option<Kind> {
        Kind::from_u8(self.kind)
    }

    /// The [`Kind::Name`] records of a name: as many as it takes, at least one. Of a very long one
    /// that is the start.
    pub fn names(thread: Slot, name: &[u8]) -> impl Iterator<Item = Event> + '_ {
        const MOST: usize = 16;
        let records = name.len().div_ceil(24).clamp(1, MOST);
        (0..records).map(move |n| Event::name(thread, &name[24 * n..]))
    }

    /// A [`Kind::Name`] record for (the start of) `name`.
    fn name(thread: Slot, name: &[u8]) -> Event {
        let word = |i: usize| {
            let mut bytes = [0; 8];
            let part = name.get(8 * i..).unwrap_or_default();
            let len = part.len().min(8);
            bytes[..len].copy_from_slice(&part[..len]);
            u64::from_le_bytes(bytes)
        };
        Event {
            kind: Kind::Name as u8,
            thread,
            object: word(0),
            value: word(1),
            pc: word(2),
            ..Event::default()
        }
    }

    /// The bytes of a [`Kind::Name`] record, with the NULs that fill up the end.
    pub fn name_bytes(&self) -> [u8; 24] {
        let mut bytes = [0; 24];
        for (i, word) in [self.object, self.value, self.pc].iter().enumerate() {
            bytes[8 * i..8 * i + 8].copy_from_slice(&word.to_le_bytes());
        }
        bytes
    }

    /// The [`Kind::Moved`] records for these bytes, of a call that asked for so many.
    pub fn moved(thread: Slot, asked: u32, bytes: &[u8]) -> impl Iterator<Item = Event> + '_ {
        let records = bytes.len().div_ceil(24).max(1);
        (0..records).map(move |n| {
            let part = &bytes[24 * n..];
            let part = &part[..part.len().min(24)];
            Event {
                kind: Kind::Moved as u8,
                size: part.len() as u8,
                aux: asked,
                ..Event::name(thread, part)
            }
        })
    }

    /// The name in the [`Kind::Name`] records at the start of these; `None`: there are none.
    #[cfg(feature = "alloc")]
    pub fn name_in(events: &[Event]) -> Option<alloc::string::String> {
        let records = events.iter().take_while(|e| e.kind() == Some(Kind::Name));
        let bytes: alloc::vec::Vec<u8> = records.flat_map(Event::name_bytes).collect();
        let text = alloc::string::String::from_utf8_lossy(&bytes);
        (!bytes.is_empty()).then(|| text.trim_end_matches('\0').into())
    }

    /// The slots listed in an [`Kind::Enabled`] record, at most 12.
    pub fn enabled_slots(&self) -> impl Iterator<Item = Slot> + '_ {
        let words = [self.object, self.value, self.pc];
        (0..usize::from(self.size.min(12))).map(move |i| (words[i / 4] >> (16 * (i % 4))) as Slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_come_back_in_order() {
        const MOST: usize = Event::CALLERS;
        let addresses: [usize; MOST + 2] = core::array::from_fn(|i| 0x1000 + i);
        for (len, kept, records) in [
            (0, 0, 1),
            (1, 1, 1),
            (3, 3, 1),
            (4, 4, 2),
            (12, 12, 4),
            (MOST, MOST, MOST.div_ceil(3)),
            (MOST + 2, MOST, MOST.div_ceil(3)),
        ] {
            let mut seen = 0;
            let mut count = 0;
            for event in Event::stack(5, &addresses[..len]) {
                assert_eq!((event.thread, event.kind()), (5, Some(Kind::Stack)));
                assert_eq!(event.aux as usize, seen);
                for caller in event.callers() {
                    assert_eq!(caller, addresses[seen] as u64);
                    seen += 1;
                }
                count += 1;
            }
            assert_eq!((seen, count), (kept, records), "{len}");
        }
        assert!(!Kind::Stack.is_step());
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn names_come_back_whole() {
        let names = [
            "",
            "i",
            "a name of 24 bytes, full",
            "a name of more than 24 bytes",
        ];
        for name in names {
            let mut records: alloc::vec::Vec<Event> = Event::names(3, name.as_bytes()).collect();
            assert!(records.iter().all(|r| r.thread == 3));
            assert_eq!(records.len(), name.len().div_ceil(24).max(1));
            records.push(Event::default());
            assert_eq!(Event::name_in(&records).as_deref(), Some(name));
        }
        assert_eq!(Event::name_in(&[Event::default()]), None);
        let long = [b'x'; 1000];
        assert_eq!(Event::names(3, &long).count(), 16);
    }
}
