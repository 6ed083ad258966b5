//! The gate: where threads announce their operations and the policy chooses who goes on.

mod alone;
pub mod asking;
mod callers;
mod cancel;
mod children;
mod circles;
mod core;
mod deadlock;
mod ending;
mod facts;
mod foreign;
mod freeze;
pub mod hooked;
mod livelock;
mod operands;
mod outside;
mod prefix;
pub mod records;
mod rounds;
mod section;
mod seen;
mod sleep;
mod spin;
mod state;
mod steer;
#[cfg(test)]
mod tests;
pub mod timed;
mod uncontrolled;

pub use self::cancel::{Cancel, cancel_of, cancellation_point, set_cancel};
pub use self::core::State;
pub use asking::{access_unseen, ask, ask_unfollowed, gives, remaps, renews, within_call};
pub use facts::{HIGHEST, arrival, fact, told};
pub use spin::{Seen, State as LoopState};
pub use state::{Known, capture};
pub use uncontrolled::{anything_uncontrolled, uncontrolled};

use self::core::{Gate, Stop};
use crate::os::Kernel;
use crate::serial::Serial;
use crate::substrate;
use ::core::ffi::c_int;
use ::core::fmt;
use ::core::sync::atomic::{Ordering, compiler_fence};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::shared::flags;
use raddle_protocol::update::Operands;
use raddle_protocol::{Slot, slot};

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
    /// Do handlers of signals end it?
    pub interrupt: Interrupt,
    /// `ready` asks about something outside the threads of the target (a child process), which
    /// changes without a [`touch`].
    pub outside: bool,
}

/// Whether a handler that ran while a thread waited ends the wait with EINTR (signal(7)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The wait goes on.
    Never,
    /// It ends, unless the handler was installed with SA_RESTART.
    UnlessRestart,
    /// It ends.
    Always,
    /// It ends, and no handler runs while it can complete: a wait with a signal mask of its own,
    /// which is in force only as long as it waits.
    WhileBlocked,
}

impl Pending {
    /// An operation that can always complete.
    pub fn always(kind: Kind, object: u64, pc: usize) -> Pending {
        Pending {
            kind,
            object,
            pc,
            aux: 0,
            deadline: 0,
            ready: |_, _| true,
            holder: |_| (slot::NONE, 0),
            cancellable: false,
            interrupt: Interrupt::Never,
            outside: false,
        }
    }
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
    /// The handler of a signal has run ([`Pending::interrupt`]): fail with EINTR.
    Interrupted,
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

static GATE: Serial<Gate<Kernel>> = Serial::new(Gate::new(Kernel::new()));
static ACTIVE: Serial<bool> = Serial::new(false);
/// [`passively`] has been called, and will be active again.
static PASSIVE: Serial<bool> = Serial::new(false);
/// The process that obeys the job; 0: none yet.
static PROCESS: Serial<i32> = Serial::new(0);

/// The gate. Not to be kept over a switch.
fn gate() -> &'static mut Gate<Kernel> {
    // SAFETY: every caller is the running thread and drops the reference before it switches.
    unsafe { GATE.get() }
}

/// Uses the shared pages at `base`.
///
/// # Safety
/// `shared::TOTAL` bytes are mapped there for ever.
pub unsafe fn attach(base: *mut u8, notify: c_int) {
    let gate = gate();
    gate.pages.os.set_notify(notify);
    // SAFETY: passed on.
    unsafe { gate.pages.attach(base) };
}

/// The shared pages.
pub fn pages() -> &'static mut crate::pages::Pages<Kernel> {
    &mut gate().pages
}

/// Takes control: the caller becomes the thread main and obeys the job.
pub fn begin() {
    if let Err(Stop) = gate().begin() {
        stop();
    }
    // SAFETY: only one thread exists.
    unsafe {
        *PROCESS.get() = crate::os::process();
        *ACTIVE.get() = true;
    }
}

/// This process is a clone of the one that obeyed before, and obeys in its stead.
pub fn moved() {
    // SAFETY: the process has one kernel thread.
    unsafe { *PROCESS.get() = crate::os::process() };
}

/// Gives up control for good: this process is a fork of the target, whose pages are not its own.
pub fn leave() {
    // SAFETY: a fork has one thread.
    unsafe { *ACTIVE.get() = false };
    gate().logging = false;
    gate().pages.detach();
    crate::vars::set_mode(u32::MAX, false);
    crate::shadow::leave();
}

/// What [`stand_aside`] has switched off.
#[derive(Clone, Copy)]
pub struct Aside {
    active: bool,
    logging: bool,
    mode: u32,
}

/// A child runs in this process's memory, in place of the running thread, until [`come_back`]: it is
/// not controlled, and nothing of it is recorded.
pub fn stand_aside() -> Aside {
    let aside = Aside {
        active: active(),
        logging: gate().logging,
        mode: crate::vars::mode(),
    };
    set_active(false);
    gate().logging = false;
    crate::vars::set_mode(u32::MAX, false);
    aside
}

/// The child has left this process's memory.
pub fn come_back(aside: Aside) {
    set_active(aside.active);
    gate().logging = aside.logging;
    crate::vars::set_mode(aside.mode, true);
}

/// The running thread is in an atomic section from now on: the others wait for its end, unless it
/// waits itself.
pub fn enter_section() {
    gate().section.enter(gate().running());
}

/// The section of [`enter_section`] ends. `false`: others went on in between.
pub fn leave_section() -> bool {
    gate().section.leave()
}

/// Is the calling thread controlled now? If not, pass through to the real function.
#[inline]
pub fn active() -> bool {
    // SAFETY: a plain flag.
    unsafe { *ACTIVE.get() }
}

fn set_active(active: bool) {
    // SAFETY: a plain flag; nobody else runs.
    unsafe { *ACTIVE.get() = active };
}

/// Runs `f`, whose intercepted calls pass through to the real functions: library code that the
/// runtime itself calls is no part of the program.
pub fn passively<R>(f: impl FnOnce() -> R) -> R {
    // SAFETY: plain flags; nobody else runs while they are changed, since nothing in `f` switches.
    let (was, was_passive) = unsafe { (*ACTIVE.get(), *PASSIVE.get()) };
    // A signal in between is to find one of them set.
    // SAFETY: as above.
    unsafe { *PASSIVE.get() = was || was_passive };
    compiler_fence(Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *ACTIVE.get() = false };
    let result = crate::io::letting_through(f);
    // SAFETY: as above.
    unsafe { *ACTIVE.get() = was };
    compiler_fence(Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *PASSIVE.get() = was_passive };
    result
}

/// Until [`resume`], intercepted calls pass through to the real functions, as in [`passively`]: the
/// program is in a library function whose calls are no steps. `false`: they do so anyway.
pub fn suspend() -> bool {
    if !active() {
        return false;
    }
    // SAFETY: plain flags; nobody else runs before `resume`.
    unsafe { *PASSIVE.get() = true };
    compiler_fence(Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *ACTIVE.get() = false };
    true
}

/// Ends what [`suspend`] began.
pub fn resume() {
    // SAFETY: as in `suspend`.
    unsafe { *ACTIVE.get() = true };
    compiler_fence(Ordering::SeqCst);
    // SAFETY: as above.
    unsafe { *PASSIVE.get() = false };
}

/// The kernel's number of the process that obeys the job, also in its children; 0: none yet.
pub fn process() -> i32 {
    // SAFETY: a plain word.
    unsafe { *PROCESS.get() }
}

/// Does this process obey the job, if perhaps not at this very moment? For handlers of signals.
pub fn obeys() -> bool {
    // SAFETY: plain flags and a number.
    unsafe { active() || *PASSIVE.get() && *PROCESS.get() == crate::os::process() }
}

/// The running thread. `slot::MAIN` while not active.
#[inline]
pub fn me() -> Slot {
    gate().running()
}

/// See [`core::Gate::several`].
pub fn several() -> bool {
    gate().several()
}

/// See [`Gate::frees_are_steps`].
pub fn frees_are_steps() -> bool {
    gate().frees_are_steps()
}

/// How many threads have been created and have not ended.
#[inline]
pub fn threads_alive() -> usize {
    gate().alive().max(1)
}

/// The running thread is about to announce an end of the process, or what leads to it.
pub fn ask_to_end() {
    gate().ask_to_end();
}

/// How many threads there have been so far, main among them.
pub fn threads_created() -> u64 {
    gate().created
}

/// The how-many-th of the threads that were created `s` is.
pub fn number_of(s: Slot) -> u64 {
    gate().threads[s].number
}

/// [`raddle_protocol::shared::flags`] of the job; 0 while not active.
#[inline]
pub fn flags() -> u32 {
    gate().flags
}

/// Announces an operation, lets the policy choose, returns when this thread is chosen: one step,
/// and one more for each signal whose handler runs first. The caller records the step, however it
/// ends.
#[inline]
pub fn point(mut p: Pending) -> Wake {
    loop {
        let me = me();
        let Ok(next) = gate().announce(&p) else {
            stop()
        };
        if next != me {
            switch(me, next);
        }
        let wake = gate().arrive();
        if wake == Wake::Cancelled {
            p = *gate().pending(me);
            cancel::log_cancelled(&p);
            if !p.cancellable {
                crate::threads::cancel_now();
            }
            return wake;
        }
        // Others may have amended what was announced.
        let announced = gate().pending(me);
        if !crate::signals::due_before(announced) {
            if let Some(wake) = facts::outcome(announced, wake) {
                return wake;
            }
            p = *announced;
            crate::signals::settle(p.pc);
            continue;
        }
        p = *announced;
        if crate::signals::handle(&mut p) {
            return interrupted(p);
        }
    }
}

/// A handler has ended the wait `p`: that it fails is one more step, before which those signals are
/// handled that are still due.
#[cold]
fn interrupted(p: Pending) -> Wake {
    let fails = Pending {
        ready: |_, _| true,
        deadline: 0,
        interrupt: Interrupt::Never,
        ..p
    };
    match point(fails) {
        Wake::Cancelled => Wake::Cancelled,
        _ => Wake::Interrupted,
    }
}

/// Goes on in `to`; the expressions of the call under way in `from` stay its own.
#[inline]
fn switch(from: Slot, to: Slot) {
    let call = crate::vars::symbolic().then(crate::vars::call);
    crate::access::staged::aside(from, || substrate::switch(from, to));
    crate::io::rearm();
    if let Some(call) = call {
        crate::vars::resume_call(call);
    }
}

/// [`point`] for an operation that can always complete.
#[inline]
pub fn simple(kind: Kind, object: u64, pc: usize) {
    access(kind, object, 0, pc);
}

/// [`simple`] for an access to so many bytes.
#[inline]
pub fn access(kind: Kind, object: u64, bytes: u64, pc: usize) {
    let me = me();
    let Ok(next) = gate().announce_access(kind, object, bytes, pc) else {
        stop()
    };
    if next != me {
        switch(me, next);
    }
    if gate().cancelled_now() {
        cancel::log_cancelled(gate().pending(me));
        crate::threads::cancel_now();
    }
    if crate::signals::due() {
        crate::signals::handle(&mut Pending::always(kind, object, pc));
        simple(kind, object, pc);
    }
}

/// The running thread returns from an operation that lets others go on, or shows them something. A
/// step of its own where the job wants that: what follows in memory is not seen there.
#[inline]
pub fn returns(pc: usize) {
    if flags() & flags::RETURNS != 0 && several() {
        simple(Kind::Return, 0, pc);
        log(Kind::Return, 0, 0, pc);
    }
}

/// [`simple`] at which nobody else can be chosen.
pub fn alone(kind: Kind, object: u64, pc: usize) {
    if let Err(Stop) = gate().announce_alone(kind, object, pc) {
        stop();
    }
}

/// The state of `object` changed: evaluate `ready` anew for every thread that announced an
/// operation on it. To be called after every acquire and every release, post, signal.
#[inline]
pub fn touch(object: u64) {
    gate().touch(object);
}

/// Evaluates `ready` anew for one thread.
pub fn touch_thread(slot: Slot) {
    gate().touch_thread(slot);
}

/// Changes the announced operation of `slot`, a thread that waits in [`point`], and evaluates it
/// anew: a signal turns a wait for a condition into one for the mutex, without a deadline.
pub fn amend(slot: Slot, change: impl FnOnce(&mut Pending)) {
    match crate::signals::suspended(slot) {
        Some(pending) => change(pending),
        None => gate().amend(slot, change),
    }
}

/// A signal is due for `slot`, or none any more: its next step is that of the handler.
pub fn set_signalled(slot: Slot, due: bool) {
    gate().set_signalled(slot, due);
}

/// Chooses a value below `n`; one entry of the schedule if `n >= 2`. The caller writes the record
/// by [`log_choice`] right after the step's own.
pub fn choose(n: usize) -> usize {
    match gate().choose(n, false) {
        Ok(picked) => picked,
        Err(Stop) => stop(),
    }
}

/// [`choose`], where 0 is what usually happens: policies take the others now and then only.
pub fn choose_rarely(n: usize) -> usize {
    match gate().choose(n, true) {
        Ok(picked) => picked,
        Err(Stop) => stop(),
    }
}

/// A descriptor operation took effect: evaluates anew every thread that waits in one.
pub fn touch_descriptors() {
    gate().touch_descriptors();
}

/// The running thread is about to wait for something outside of this process.
pub fn expect_outside() {
    gate().expect_outside();
}

/// Records the step just taken by the running thread (nothing without `flags::EVENTS`).
#[inline]
pub fn log(kind: Kind, object: u64, value: u64, pc: usize) {
    let gate = gate();
    if gate.logging {
        gate.log(Event {
            kind: kind as u8,
            object,
            value,
            pc: pc as u64,
            ..Event::default()
        });
    }
}

/// The running thread's operation read `value` at `at` and changed nothing: what a thread that
/// goes round a loop waits for (see `spin`).
#[inline]
pub fn saw(at: u64, size: u32, value: u64) {
    gate().saw(at, size, value);
}

/// See [`core::Gate::found_held`].
pub fn found_held(object: u64) {
    gate().found_held(object);
}

/// See [`core::Gate::took`].
pub fn took(object: u64, free: u32) {
    gate().took(object, free);
}

/// The running thread begins a round of a loop that only waits (see `rounds`).
pub fn round(again: bool, pc: usize, is_shared: impl Fn(u64) -> bool) {
    if gate().round(again, pc, is_shared) {
        simple(Kind::Yield, 0, 0);
        log(Kind::Yield, 0, 0, 0);
    }
}

/// The running thread, which may be in such a round, found `value` at `at` and left it there.
#[inline]
pub fn round_saw(at: u64, size: u32, value: u64) {
    gate().round_saw(at, size, value);
}

/// The running thread changed something.
#[inline]
pub fn round_changed() {
    gate().round_changed();
}

/// Is it enough if loops poll once?
pub fn follows_rounds() -> bool {
    gate().follows_rounds()
}

/// Is what the running thread reads to be treated as shared?
#[inline]
pub fn round_exposes() -> bool {
    gate().round_exposes()
}

/// Could another thread than the running one go on?
pub fn others_ready() -> bool {
    gate().others_ready()
}

/// Could another thread than the running one take the next step, if need be when its time is up or
/// when nobody else can?
pub fn others_go_on() -> bool {
    let me = me();
    alive_threads().any(|s| s != me && (gate().enabled(s) || gate().lets_others(s)))
}

/// Does the schedule want the step just taken to take in a signal from outside?
pub fn wants_arrival() -> bool {
    gate().wants_arrival()
}

/// How many steps were taken.
pub fn steps() -> u64 {
    gate().steps
}

/// The running thread, in the midst of code without operations, lets others go first.
pub fn pass_over() {
    gate().pass_over();
    simple(Kind::Yield, 0, 0);
    log(Kind::Yield, 0, 0, 0);
}

/// See [`Gate::writes`].
#[inline]
pub fn writes(at: u64, size: u64) {
    gate().writes(at, size);
}

/// The running thread changed something that others may see, in an operation that need not have.
#[inline]
pub fn changed() {
    gate().changed();
}

/// Does a search that is to miss nothing want to know of everything?
#[inline]
pub fn exhaustive() -> bool {
    flags() & flags::EXHAUSTIVE != 0
}

/// The running thread is about to announce an access at `at` that computes this.
#[inline]
pub fn intends(at: u64, size: u64, operands: Operands) {
    if exhaustive() {
        gate().intends(at, size, operands);
    }
}

/// The running thread is about to announce an access and does not say what it computes.
pub fn intends_something() {
    if exhaustive() {
        gate().intends_something();
    }
}

/// The access whose record comes next found this, where a search wants to know it.
#[inline]
pub fn found(content: u64, operands: Operands) {
    if exhaustive() {
        let me = gate().running();
        gate().log(operands.record(me, Some(content)));
    }
}

/// [`log`] with all fields; `thread` is filled in.
#[inline]
pub fn log_full(event: Event) {
    gate().log(event);
}

/// The record of a [`choose`].
pub fn log_choice(picked: usize, of: usize) {
    gate().log_choice(picked, of);
}

/// Records who called the function at `pc`, of which a record follows that is no step (nothing
/// without `flags::STACKS`).
#[inline]
pub fn log_callers(pc: usize) {
    if flags() & flags::STACKS != 0 && active() {
        gate().log_callers(pc);
    }
}

/// A record that is no step, with who called it; of no interest in a symbolic run.
pub fn note(event: Event) {
    if flags() & flags::SYMBOLIC == 0 {
        log_callers(event.pc as usize);
        log_full(event);
    }
}

/// How many records have been written: the index of the next one.
pub fn events() -> u64 {
    gate().events()
}

/// Do some of these bytes belong to what is shared with the controller?
pub fn shares(at: usize, len: usize) -> bool {
    active() && gate().pages.holds(at, len)
}

/// If the execution ends with a failing exit status, that comes from where the running thread is
/// now, unless an earlier place is known.
pub fn fails_here() {
    let gate = gate();
    let running = gate.running();
    gate.pages.fails_here(running);
}

/// Writes the outcome, unless one is there, and returns: for what then takes its native course.
pub fn record(outcome: &Fatal) {
    // A child made by vfork runs in our memory; how it ends is not how we end.
    // SAFETY: a plain word.
    let obeying = unsafe { *PROCESS.get() };
    if obeying == 0 || obeying == crate::os::process() {
        log_private();
        gate().record(outcome);
    }
}

/// At the end of a symbolic run, once: what its threads kept to themselves.
fn log_private() {
    static LOGGED: Serial<bool> = Serial::new(false);
    // SAFETY: only the running thread ends the execution.
    let logged = ::core::mem::replace(unsafe { LOGGED.get() }, true);
    if !logged && flags() & flags::SYMBOLIC != 0 {
        crate::shadow::log_private();
    }
}

/// Writes the outcome and ends the process (or traps, with `flags::TRAP`).
pub fn finish(outcome: Fatal) -> ! {
    record(&outcome);
    stop()
}

/// Exit status of a process that [`finish`] ended.
pub const EXIT_STATUS: i32 = 66;

/// Ends the process; the outcome is there.
fn stop() -> ! {
    if gate().pages.attached() {
        log_private();
    }
    if flags() & flags::TRAP != 0 {
        // SAFETY: a breakpoint for the debugger.
        unsafe { ::core::arch::asm!("int3") };
    }
    crate::os::exit_group(EXIT_STATUS)
}

/// How many steps an execution may take.
pub fn limit() -> u64 {
    gate().limit
}

/// Virtual nanoseconds since the start.
pub fn now() -> u64 {
    gate().clock()
}

/// Moves the virtual clock forwards to `ns`; never backwards.
pub fn advance_to(ns: u64) {
    gate().advance_to(ns);
}

/// The slot of the next child of the running thread; `None` when there are too many threads.
pub fn name_child() -> Option<Slot> {
    gate().name_child()
}

/// Brings a thread to life; its first announcement is a `ThreadStart`.
pub fn add_thread(s: Slot, start_routine: usize, pc: usize) {
    gate().add(
        s,
        Pending::always(Kind::ThreadStart, start_routine as u64, pc),
    );
}

/// Where `s` is in its life.
pub fn state(s: Slot) -> State {
    gate().threads[s].state
}

/// [`saw`] of where `s` is in its life.
pub fn saw_state(s: Slot) {
    gate().saw_state(s);
}

/// Runs `f`, which calls the C library for the thread `s` that it is about to make: what is
/// allocated belongs to `s`, and nothing is controlled meanwhile.
pub fn as_thread<R>(s: Slot, f: impl FnOnce() -> R) -> R {
    let former = gate().impersonate(s);
    let logging = ::core::mem::replace(&mut gate().logging, false);
    let result = crate::vars::calling_back(|| passively(f));
    gate().logging = logging;
    gate().impersonate(former);
    result
}

/// The operation that `s` announced; `None` if it runs or is not alive.
pub fn announced(s: Slot) -> Option<Pending> {
    let waits = state(s) == State::Alive && s != me();
    waits.then(|| *gate().pending(s))
}

/// The threads that are alive, lowest slot first.
pub fn alive_threads() -> impl Iterator<Item = Slot> {
    gate().alive_threads()
}

/// Does `s` wait in an operation of this kind on `object`?
pub fn waits_in(s: Slot, kind: Kind, object: u64) -> bool {
    state(s) == State::Alive && gate().announced(s, kind, object)
}

/// The running thread, whose `pthread_t` is `object`, has taken its last step: others go on, this
/// call never returns.
pub fn end_thread(object: u64) -> ! {
    let me = me();
    match gate().retire(object) {
        Ok(next) => substrate::finish(me, next),
        Err(Stop) => stop(),
    }
}
