//! The gate: where threads announce their operations and the policy chooses who goes on.

use core::fmt;
use raddle_protocol::Slot;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;

/// An announced operation.
#[derive(Clone, Copy)]
pub struct Pending {
    pub kind: Kind,
    /// Address of the object, 0 if none.
    pub object: u64,
    /// Return address into the program.
    pub pc: usize,
    /// The model's own use (the mutex of a condition wait, the target slot of a join).
    pub aux: u64,
    /// Virtual nanoseconds; 0: none.
    pub deadline: u64,
    /// May this thread's operation complete now?
    pub ready: fn(&Pending, Slot) -> bool,
    /// Who holds what it waits for, and where it was taken (`slot::NONE`, 0 if nobody does).
    pub holder: fn(&Pending) -> (Slot, usize),
    /// A deferred cancellation point.
    pub cancellable: bool,
}

/// Why a thread goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// Its operation can complete.
    Ready,
    /// Chosen while not ready: its deadline is reached (the clock was moved).
    TimedOut,
    /// A cancellation request is pending: clean up and call [`crate::threads::cancel_now`].
    Cancelled,
}

/// How an execution ends; see [`End`] for the fields.
pub struct Fatal<'a> {
    pub end: End,
    pub code: i32,
    pub message: fmt::Arguments<'a>,
    pub detail: [u64; 4],
    /// Where the program asked for what went wrong (0: unknown); the first entry of the stack.
    pub pc: usize,
    /// Record the whole stack too.
    pub stack: bool,
}

/// Is the calling thread controlled now? If not, pass through to the real function.
pub fn active() -> bool {
    false
}

/// The running thread. [`raddle_protocol::slot::MAIN`] while not active.
pub fn me() -> Slot {
    raddle_protocol::slot::MAIN
}

/// How many threads have been created and have not ended.
pub fn threads_alive() -> usize {
    1
}

/// [`raddle_protocol::shared::flags`] of the job; 0 while not active.
pub fn flags() -> u32 {
    0
}

/// Announces an operation, lets the policy choose, returns when this thread is chosen: one step.
pub fn point(_p: Pending) -> Wake {
    Wake::Ready
}

/// [`point`] for an operation that can always complete.
pub fn simple(_kind: Kind, _object: u64, _pc: usize) {}

/// The state of `object` changed: evaluate `ready` anew for every thread that announced an
/// operation on it. To be called after every acquire and every release, post, signal.
pub fn touch(_object: u64) {}

/// Evaluates `ready` anew for one thread.
pub fn touch_thread(_slot: Slot) {}

/// Changes the announced operation of `slot`, a thread that waits in [`point`], and evaluates it
/// anew: a signal turns a wait for a condition into one for the mutex, without a deadline. The
/// deadline, if any, may only be dropped.
pub fn amend(_slot: Slot, _change: impl FnOnce(&mut Pending)) {}

/// Chooses a value below `n`; one entry of the schedule if `n >= 2`. The caller writes the record
/// by [`log_choice`] right after the step's own.
pub fn choose(_n: usize) -> usize {
    0
}

/// Records the step just taken by the running thread (nothing without `flags::EVENTS`).
pub fn log(_kind: Kind, _object: u64, _value: u64, _pc: usize) {}

/// [`log`] with all fields; `thread` is filled in.
pub fn log_full(_event: Event) {}

/// The record of a [`choose`].
pub fn log_choice(_picked: usize, _of: usize) {}

/// Writes the outcome, unless one is there, and returns: for what then takes its native course.
pub fn record(_outcome: &Fatal) {}

/// Writes the outcome and ends the process (or traps, with `flags::TRAP`).
pub fn finish(outcome: Fatal) -> ! {
    record(&outcome);
    crate::os::exit_group(EXIT_STATUS)
}

/// Exit status of a process that [`finish`] ended.
pub const EXIT_STATUS: i32 = 66;

/// Names something that is not controlled; the execution goes on.
pub fn uncontrolled(_name: &str) {}

/// Virtual nanoseconds since the start.
pub fn now() -> u64 {
    0
}

/// Moves the virtual clock forwards to `ns`; never backwards.
pub fn advance_to(_ns: u64) {}
