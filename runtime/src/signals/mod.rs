//! Signals: masks, pending sets and handlers per thread.
//!
//! With fibers all threads share one kernel thread, so the kernel's own bookkeeping is of no use:
//! a signal sent by `pthread_kill` would stay pending at a parked helper, and `sigwait` would stop
//! everybody. So the model keeps masks, pending signals and dispositions ([`world`]), and calls a
//! handler as a function of the thread that takes the signal: that is one step of this thread,
//! taken instead of the operation that it had announced, which is announced again afterwards
//! ([`deliver`]). Default actions are the kernel's. Which of several threads takes a signal to the
//! process is a choice. What comes from outside arrives at the next point ([`actions`]).

mod actions;
mod deliver;
mod jumps;
mod world;

pub use deliver::{handle, suspended};
pub use world::{Set, Signal};

use crate::gate::{self, Interrupt, Pending, State, Wake};
use crate::gone::{is_gone, is_missing, needed_at, written_to};
use crate::serial::Serial;
use crate::{intercept, numbers, os, sync, threads, time};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, Ordering};
use libc::{EAGAIN, EFAULT, EINTR, EINVAL, ESRCH, pid_t, pthread_t, siginfo_t, sigset_t, timespec};
use raddle_protocol::conflict::kept;
use raddle_protocol::event::{Event, Kind, SIGNAL_OWN};
use raddle_protocol::{Slot, slot};
use world::{Default, World, bit, combine, default_of, valid};

static WORLD: Serial<World> = Serial::new(World::new());
/// [`World::busy`], where a native handler may set it at any moment.
static BUSY: AtomicBool = AtomicBool::new(false);

fn world<R>(f: impl FnOnce(&mut World) -> R) -> R {
    // SAFETY: `f` is one of the short closures of this module; none of them switches threads.
    f(unsafe { WORLD.get() })
}

fn mark_busy() {
    BUSY.store(true, Ordering::Relaxed);
}

/// # Safety
/// `set` points to a signal set or is null.
pub unsafe fn read_set(set: *const sigset_t) -> Set {
    if set.is_null() {
        return 0;
    }
    // SAFETY: glibc's set begins with the kernel's 64 bits; passed on to the caller.
    unsafe { set.cast::<Set>().read() }
}

/// # Safety
/// `set` points to a signal set or is null.
unsafe fn write_set(set: *mut sigset_t, value: Set) {
    if !set.is_null() {
        // SAFETY: passed on to the caller.
        unsafe {
            set.write(core::mem::zeroed());
            set.cast::<Set>().write(value);
        }
    }
}

fn fibers() -> bool {
    gate::flags() & raddle_protocol::shared::flags::KERNEL_THREADS == 0
}

/// The kernel's mask of the calling kernel thread becomes `mask`; the former one.
fn kernel_mask(mask: Option<Set>) -> Set {
    let mask = mask.map(|set| set & !crate::raw::unblockable());
    let mut former: Set = 0;
    let new = mask
        .as_ref()
        .map_or(0, |set| core::ptr::from_ref(set) as usize);
    let how = libc::SIG_SETMASK as usize;
    // SAFETY: the kernel reads and writes eight bytes.
    unsafe {
        let old = &raw mut former as usize;
        os::syscall(libc::SYS_rt_sigprocmask, how, new, old, 8, 0, 0)
    };
    former
}

/// Called in the process that obeys a job: main's mask is what the process was started with.
pub fn begin() {
    let mask = kernel_mask(None);
    world(|w| {
        w.kernel = mask;
        if mask != 0 {
            w.starts_with(mask);
        }
    });
}

fn mask_of(s: Slot) -> Set {
    world(|w| w.mask(s))
}

/// Sets the mask of `s`, which is the running thread or one that has not begun.
fn set_mask(s: Slot, mask: Set) {
    mark_busy();
    world(|w| w.set_mask(s, mask));
    if s == gate::me() {
        // What is ignored is gone when it is blocked no more.
        let open = world(|w| w.pending(s) & !w.mask(s));
        let ignored = actions::ignored_of(open);
        while ignored != 0 && world(|w| w.take(s, ignored)).is_some() {}
        let mask = mask_of(s);
        if !fibers() || world(|w| core::mem::replace(&mut w.kernel, mask)) != mask {
            kernel_mask(Some(mask));
        }
        refresh(s);
    }
}

/// The next step of a thread is to take in a signal from outside.
pub fn expect() {
    mark_busy();
}

/// Calls `f` while the running thread blocks all signals that are no faults. A thread that `f` makes
/// begins like that.
pub fn while_blocked(pc: usize, f: impl FnOnce()) {
    let before = mask_of(gate::me());
    let all = Set::MAX & !bit(libc::SIGABRT);
    let blocked = actions::FAULTS.iter().fold(all, |set, &s| set & !bit(s));
    set_mask(gate::me(), blocked);
    f();
    set_mask(gate::me(), before);
    run_due(pc);
}

/// Tells the gate whether a signal is due for `s` that has an effect.
pub fn refresh(s: Slot) {
    let open = world(|w| w.pending(s) & !w.mask(s));
    gate::set_signalled(s, open != 0 && actions::effective_of(open) != 0);
}

/// The gate asks when a thread has been chosen: signals from outside are taken in, its mask becomes
/// the kernel's, default actions are taken; is a handler due?
#[inline]
pub fn due() -> bool {
    BUSY.load(Ordering::Relaxed) && take_in()
}

/// [`due`] for a thread that has been chosen to perform `p`.
#[inline]
pub fn due_before(p: &Pending) -> bool {
    BUSY.load(Ordering::Relaxed) && !completes_first(p) && take_in()
}

#[cold]
fn completes_first(p: &Pending) -> bool {
    let ready = p.interrupt == Interrupt::WhileBlocked && (p.ready)(p, gate::me());
    ready && !gate::wants_arrival()
}

#[cold]
fn take_in() -> bool {
    actions::collect();
    bring_up_to_date()
}

fn bring_up_to_date() -> bool {
    let me = gate::me();
    let mask = mask_of(me);
    if fibers() && world(|w| core::mem::replace(&mut w.kernel, mask)) != mask {
        kernel_mask(Some(mask));
    }
    let open = world(|w| w.pending(me)) & !mask;
    if open == 0 {
        return false;
    }
    let handled = actions::handled_of(open);
    while let Some(signal) = world(|w| w.take(me, open & !handled)) {
        act_by_default(signal.number);
    }
    handled != 0
}

/// The running thread has taken in what came from outside, which was for others: that was its step.
#[cold]
pub fn settle(pc: usize) {
    refresh(gate::me());
    gate::log(Kind::SignalReturn, 0, 0, pc);
}

/// Has anything come from outside that no thread has taken in? Also what the kernel keeps because it
/// is blocked.
pub fn have_arrived() -> bool {
    if crate::process::has_children() {
        actions::fetch_blocked();
    }
    actions::have_arrived()
}

/// [`due`] in the midst of a step: what comes from outside is taken in at its start only.
fn due_here() -> bool {
    BUSY.load(Ordering::Relaxed) && bring_up_to_date()
}

/// Handlers that are due for the running thread run now, each as a step of its own: before a
/// call that sent a signal to its own thread, or unblocked one, returns.
fn run_due(pc: usize) {
    if due_here() {
        pass(pc);
    }
}

/// The default action, or none where the signal is ignored.
fn act_by_default(signal: c_int) {
    if actions::action_of(signal).handler == libc::SIG_IGN {
        return;
    }
    match default_of(signal) {
        Default::Nothing => {}
        Default::Stops => gate::uncontrolled("a signal that stops the process (ignored)"),
        Default::Ends => end_by(signal),
    }
}

/// The whole process ends by `signal`, as it does natively: the kernel's disposition is the
/// default, or the runtime's own handler.
fn end_by(signal: c_int) {
    kernel_mask(Some(kernel_mask(None) & !bit(signal)));
    // SAFETY: plain system calls.
    unsafe {
        let (pid, tid) = (os::process() as usize, os::thread_id() as usize);
        os::syscall(libc::SYS_tgkill, pid, tid, signal as usize, 0, 0, 0);
    }
}

/// A child begins with the mask of its parent, unless its attributes have one.
///
/// # Safety
/// `attr` is null or initialised.
pub unsafe fn inherit(parent: Slot, child: Slot, attr: *const libc::pthread_attr_t) {
    // SAFETY: the caller's promise.
    let own = unsafe { mask_in(attr) };
    let mask = own.unwrap_or_else(|| mask_of(parent));
    if own.is_some() || world(|w| w.busy) {
        set_mask(child, mask);
    }
}

/// # Safety
/// As [`inherit`].
unsafe fn mask_in(attr: *const libc::pthread_attr_t) -> Option<Set> {
    unsafe extern "C" {
        fn pthread_attr_getsigmask_np(
            attr: *const libc::pthread_attr_t,
            set: *mut sigset_t,
        ) -> c_int;
    }
    if attr.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    unsafe {
        let mut set: sigset_t = core::mem::zeroed();
        let found = pthread_attr_getsigmask_np(attr, &mut set) == 0;
        found.then(|| read_set(&set))
    }
}

fn change_mask(how: c_int, set: *const sigset_t, old: *mut sigset_t, pc: usize) -> c_int {
    let me = gate::me();
    let before = mask_of(me);
    if !set.is_null() {
        // SAFETY: the caller's set.
        let Some(mask) = combine(how, before, unsafe { read_set(set) }) else {
            return EINVAL;
        };
        before_blocking(mask, pc);
        set_mask(me, mask);
        run_due(pc);
    }
    // SAFETY: the caller's set.
    unsafe { write_set(old, before) };
    0
}

/// The step of sending `signal` to `target` (`slot::NONE`: the process).
pub fn announce_send(target: Slot, signal: c_int, pc: usize) {
    gate::simple(Kind::SignalSend, 0, pc);
    let own = target == gate::me() && takes_effect_here(signal);
    gate::log_full(Event {
        kind: Kind::SignalSend as u8,
        aux: if own { SIGNAL_OWN } else { 0 },
        value: u64::from(target) << 8 | signal as u64,
        pc: pc as u64,
        ..Event::default()
    });
}

/// Does a signal of the running thread to itself do nothing, or call a handler before it returns?
fn takes_effect_here(signal: c_int) -> bool {
    let open = mask_of(gate::me()) & bit(signal) == 0;
    match actions::action_of(signal).handler {
        libc::SIG_DFL => open && default_of(signal) == Default::Nothing,
        _ => open,
    }
}

/// Keeps `signal` for a thread, or the process; false when there is no room for it. No step.
pub fn post(target: Slot, signal: Signal) -> bool {
    let kept = keep(target, signal);
    refresh(gate::me());
    kept
}

/// [`post`] of a signal to the process that the running thread has just taken in from outside. Whether
/// the thread was called for it is asked once more before its step ends.
fn post_from_outside(signal: Signal) {
    keep(slot::NONE, signal);
}

/// [`post`], but the running thread has yet to be refreshed.
fn keep(target: Slot, signal: Signal) -> bool {
    let number = signal.number;
    mark_busy();
    if actions::action_of(number).handler == libc::SIG_IGN {
        // What the thread blocks, of the process the first one, is kept in any case: it may come to be
        // another action's (signal(7), and `sig_ignored` in kernel/signal.c).
        let blocks = match target {
            slot::NONE => mask_of(slot::MAIN),
            one => mask_of(one),
        };
        let waited = match target {
            slot::NONE => waited_for(number),
            one => waits_for(one, number),
        };
        if blocks & bit(number) == 0 && !waited {
            return true;
        }
    }
    let target = match target {
        slot::NONE => taker(number),
        one => one,
    };
    let kept = world(|w| w.send(target, signal));
    crate::io::signals_changed();
    // All others: one that was called to take a signal in has nothing to do when another one has it.
    let me = gate::me();
    gate::alive_threads().filter(|&s| s != me).for_each(refresh);
    if target != slot::NONE && target != me {
        take_default_at_once(target, number);
    }
    kept
}

/// See [`World::overruns`].
pub fn overrun_of(timer: c_int) -> c_int {
    world(|w| w.overruns[timer as usize])
}

/// Sets what [`overrun_of`] is to give.
pub fn set_overrun(timer: c_int, expiries: c_int) {
    world(|w| w.overruns[timer as usize] = expiries);
}

/// See [`World::overrun`].
pub fn overrun(timer: c_int, times: u64) -> bool {
    world(|w| w.overrun(timer, times as c_int))
}

/// The default action of a signal to another thread concerns the whole process: it is not kept
/// until that thread is chosen.
fn take_default_at_once(target: Slot, number: c_int) {
    let open = world(|w| w.mask(target)) & bit(number) == 0;
    if open && !actions::action_of(number).handles() && !waits_for(target, number) {
        world(|w| w.take(target, bit(number)));
        act_by_default(number);
    }
}

/// Is `s` in sigwait, with this signal in its set?
fn waits_for(s: Slot, number: c_int) -> bool {
    gate::announced(s).is_some_and(|p| p.kind == Kind::SignalWait && p.aux & bit(number) != 0)
}

fn waited_for(number: c_int) -> bool {
    gate::alive_threads().any(|s| waits_for(s, number))
}

/// The thread that takes a signal sent to the process: one of those that wait for it, else one of
/// those that do not block it, else nobody yet.
fn taker(number: c_int) -> Slot {
    let waits = |s: &Slot| waits_for(*s, number) && world(|w| w.pending(*s)) & bit(number) == 0;
    let open = |s: &Slot| {
        let program = !crate::timers::is_helper(*s);
        program && world(|w| w.mask(*s)) & bit(number) == 0
    };
    let waiting = gate::alive_threads().filter(waits).count();
    let eligible = match waiting {
        0 => gate::alive_threads().filter(open).count(),
        n => n,
    };
    if eligible == 0 {
        return slot::NONE;
    }
    // Where nobody's handler runs it does not matter who takes it.
    let matters = waiting > 1 || waiting == 0 && actions::action_of(number).handles();
    let picked = if matters { gate::choose(eligible) } else { 0 };
    if matters && eligible > 1 {
        gate::log_choice(picked, eligible);
    }
    match waiting {
        0 => gate::alive_threads().filter(open).nth(picked),
        _ => gate::alive_threads().filter(waits).nth(picked),
    }
    .unwrap_or(slot::NONE)
}

/// What a sender says of itself.
fn from_here(number: c_int, code: c_int, value: u64) -> Signal {
    Signal {
        value,
        sender: numbers::PROCESS,
        // SAFETY: asks only.
        more: unsafe { libc::getuid() } as c_int,
        ..Signal::plain(number, code)
    }
}

/// Sends to one thread: 0 or an errno.
fn send_to_thread(target: Slot, signal: Signal, pc: usize) -> c_int {
    announce_send(target, signal.number, pc);
    if gate::state(target) != State::Alive {
        return 0;
    }
    if !post(target, signal) {
        return EAGAIN;
    }
    run_due(pc);
    0
}

/// `pthread_kill` and its kin: 0 or an errno. The C library keeps two signals for itself.
fn kill_thread(thread: pthread_t, signal: Signal, pc: usize) -> c_int {
    match actions::is_internal(signal.number) {
        true => EINVAL,
        false => thread_kill(threads::slot_of(thread), signal, pc),
    }
}

/// Sends to a thread: 0 or an errno. Signal 0 asks whether the thread exists.
fn thread_kill(target: Option<Slot>, signal: Signal, pc: usize) -> c_int {
    let Some(target) = target else { return ESRCH };
    match signal.number {
        0 => 0,
        n if !valid(n) => EINVAL,
        _ => send_to_thread(target, signal, pc),
    }
}

/// `kill` of the own process: 0 or an errno.
fn process_kill(signal: Signal, pc: usize) -> c_int {
    announce_send(slot::NONE, signal.number, pc);
    if !post(slot::NONE, signal) {
        return EAGAIN;
    }
    run_due(pc);
    0
}

fn wanted_is_pending(p: &Pending, s: Slot) -> bool {
    world(|w| w.pending(s) & p.aux != 0)
}

/// Waits until a signal of `set` is pending for the caller and takes it; EAGAIN when `deadline`
/// (virtual nanoseconds, 0: none) passes first, EINTR when a handler of another one ran.
fn wait_for(set: Set, deadline: u64, interrupt: Interrupt, pc: usize) -> Result<Signal, c_int> {
    let me = gate::me();
    let outside = crate::process::has_children();
    if outside {
        // What is blocked has to be fetched, to be taken in with a step.
        have_arrived();
        pass(pc);
    }
    let wake = gate::point(Pending {
        aux: set,
        deadline,
        ready: wanted_is_pending,
        cancellable: true,
        interrupt,
        outside,
        ..sync::pending(Kind::SignalWait, 0, pc)
    });
    if wake == Wake::Cancelled {
        threads::cancel_now();
    }
    let signal = match wake {
        Wake::Interrupted => Err(EINTR),
        _ => world(|w| w.take(me, set)).ok_or(EAGAIN),
    };
    let number = signal.map_or(0, |s| s.number as u64);
    gate::log(Kind::SignalWait, 0, number, pc);
    refresh(me);
    signal
}

/// As the C library tells of it: who sent it to one thread has sent it.
fn as_waited_for(signal: Signal) -> Signal {
    match signal.code {
        libc::SI_TKILL => Signal {
            code: libc::SI_USER,
            ..signal
        },
        _ => signal,
    }
}

/// `sigwaitinfo` and `sigtimedwait`; `limit` null: none.
///
/// # Safety
/// As the functions' own documentation says.
unsafe fn wait_info(
    set: *const sigset_t,
    info: *mut siginfo_t,
    limit: *const timespec,
    pc: usize,
) -> c_int {
    if is_missing(set) || is_gone(limit) {
        return time::errno_result(EFAULT);
    }
    // SAFETY: the caller's arguments.
    let (set, limit) = unsafe { (read_set(set), limit.as_ref()) };
    let deadline = match limit.map(time::deadline_after) {
        None => 0,
        Some(Some(deadline)) => deadline,
        Some(None) => return time::errno_result(EINVAL),
    };
    match wait_for(set, deadline, Interrupt::Always, pc) {
        Ok(signal) => {
            if !info.is_null() {
                // SAFETY: the caller's result.
                unsafe { info.write(actions::info_of(as_waited_for(signal))) };
            }
            signal.number
        }
        Err(errno) => time::errno_result(errno),
    }
}

/// Performs `call`, which waits with `mask` in force.
pub fn with_mask(mask: Set, pc: usize, call: impl FnOnce() -> isize) -> isize {
    let me = gate::me();
    let before = mask_of(me);
    if mask & !before != 0 {
        pass(pc);
    }
    set_mask(me, mask);
    let result = call();
    set_mask(me, before);
    run_due(pc);
    result
}

/// Runs the handlers that are due with `mask`: were there any?
pub fn handled_with(mask: Set, pc: usize) -> bool {
    let me = gate::me();
    let before = mask_of(me);
    set_mask(me, mask);
    let any = due_here();
    run_due(pc);
    set_mask(me, before);
    any
}

/// Waits with `mask` until a handler has run; always "fails" with EINTR.
fn suspend(mask: Set, pc: usize) -> c_int {
    let result = with_mask(mask, pc, || {
        let wake = gate::point(Pending {
            cancellable: true,
            interrupt: Interrupt::Always,
            outside: crate::process::has_children(),
            ..sync::pending(Kind::SignalWait, 0, pc)
        });
        if wake == Wake::Cancelled {
            threads::cancel_now();
        }
        gate::log(Kind::SignalWait, 0, 0, pc);
        -(EINTR as isize)
    });
    time::errno_result(-result as c_int)
}

/// A step before which the signals that are due now are handled.
fn pass(pc: usize) {
    gate::simple(Kind::SignalReturn, 0, pc);
    gate::log_full(Event {
        kind: Kind::SignalReturn as u8,
        aux: SIGNAL_OWN,
        pc: pc as u64,
        ..Event::default()
    });
}

/// `pause`: a signal that comes before the wait begins does not end it.
fn pause_here(pc: usize) -> c_int {
    pass(pc);
    suspend(mask_of(gate::me()), pc)
}

/// A signal that is sent just before the running thread's mask becomes `mask` finds it open.
fn before_blocking(mask: Set, pc: usize) {
    if actions::effective_of(mask & !mask_of(gate::me())) != 0 {
        pass(pc);
    }
}

/// Is a signal to `pid` one that the model carries?
fn ours(pid: pid_t, signal: c_int) -> bool {
    valid(signal) && numbers::is_own(pid)
}

/// `tgkill` and `tkill` of a thread of this process, by the id that `gettid` gave it:
/// `None` if it is none.
pub fn kill_by_id(tid: pid_t, signal: c_int, pc: usize) -> Option<c_int> {
    let target = numbers::slot_of(tid).filter(|&s| gate::state(s) != State::Free)?;
    if signal == 0 && target != gate::me() {
        gate::ask_unfollowed(kept::life_of(target), false, pc);
    }
    // The id of a thread is nobody's once it has ended.
    if gate::state(target) == State::Ended {
        return Some(ESRCH);
    }
    let signal = from_here(signal, libc::SI_TKILL, 0);
    Some(thread_kill(Some(target), signal, pc))
}

/// `kill` of this process: 0 or an errno; `None`: of another one.
pub fn kill_process(pid: pid_t, signal: c_int, pc: usize) -> Option<c_int> {
    ours(pid, signal).then(|| process_kill(from_here(signal, libc::SI_USER, 0), pc))
}

/// `sigqueue` of this process, likewise.
pub fn queue_to_process(pid: pid_t, signal: c_int, value: usize, pc: usize) -> Option<c_int> {
    let sent = || from_here(signal, libc::SI_QUEUE, value as u64);
    ours(pid, signal).then(|| process_kill(sent(), pc))
}

/// Is any of `wanted` pending for any thread, or the process?
pub fn is_pending(wanted: u64) -> bool {
    gate::alive_threads().any(|s| world(|w| w.pending(s)) & wanted != 0)
}

/// Takes one of `wanted` that is pending: for the caller, else for the process.
pub fn take_pending(wanted: u64) -> Option<Signal> {
    let me = gate::me();
    let signal = world(|w| w.take(me, wanted))?;
    refresh(me);
    Some(signal)
}

/// `sigset`: holds the signal or sets its handler; what was before.
fn set_disposition(signal: c_int, handler: usize, pc: usize) -> usize {
    const SIG_HOLD: usize = 2;
    if !actions::changeable(signal) {
        time::errno_result(EINVAL);
        return libc::SIG_ERR;
    }
    gate::ask(kept::action_of(signal as u32), true, pc);
    let me = gate::me();
    let held = mask_of(me) & bit(signal) != 0;
    let former = actions::action_of(signal).handler;
    if handler == SIG_HOLD {
        let mask = mask_of(me) | bit(signal);
        before_blocking(mask, pc);
        set_mask(me, mask);
    } else {
        let action = world::Action {
            handler,
            flags: 0,
            mask: 0,
        };
        actions::set_action(signal, action);
        set_mask(me, mask_of(me) & !bit(signal));
        run_due(pc);
    }
    if held { SIG_HOLD } else { former }
}

/// Blocks or unblocks one signal.
fn change_one(how: c_int, signal: c_int, pc: usize) -> c_int {
    if !actions::known(signal) {
        return time::errno_result(EINVAL);
    }
    let set = bit(signal);
    let mut whole: libc::sigset_t = unsafe_zeroed();
    // SAFETY: the set is ours.
    unsafe { write_set(&mut whole, set) };
    time::errno_result(change_mask(how, &whole, core::ptr::null_mut(), pc))
}

fn unsafe_zeroed() -> sigset_t {
    // SAFETY: a set of words.
    unsafe { core::mem::zeroed() }
}

/// The old form of masks: 32 bits; returns the former one.
fn change_old(how: c_int, set: c_int, pc: usize) -> c_int {
    let before = mask_of(gate::me());
    let mut whole = unsafe_zeroed();
    let set = match how {
        libc::SIG_SETMASK => before & !0xffff_ffff | u64::from(set as u32),
        _ => u64::from(set as u32),
    };
    // SAFETY: the set is ours.
    unsafe { write_set(&mut whole, set) };
    change_mask(how, &whole, core::ptr::null_mut(), pc);
    before as c_int
}

intercept! {
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int,
        pc => written_to(old, |old| change_mask(how, set, old, pc));
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int,
        pc => time::errno_result(written_to(old, |old| change_mask(how, set, old, pc)));
    fn sighold(signal: c_int) -> c_int, pc => change_one(libc::SIG_BLOCK, signal, pc);
    fn sigrelse(signal: c_int) -> c_int, pc => change_one(libc::SIG_UNBLOCK, signal, pc);
    fn sigset(signal: c_int, handler: usize) -> usize, pc => set_disposition(signal, handler, pc);
    fn sigblock(set: c_int) -> c_int, pc => change_old(libc::SIG_BLOCK, set, pc);
    fn sigsetmask(set: c_int) -> c_int, pc => change_old(libc::SIG_SETMASK, set, pc);
    fn siggetmask() -> c_int, pc => mask_of(gate::me()) as c_int;
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int, pc => {
        kill_thread(thread, from_here(signal, libc::SI_TKILL, 0), pc)
    };
    fn pthread_sigqueue(thread: pthread_t, signal: c_int, value: usize) -> c_int, pc => {
        kill_thread(thread, from_here(signal, libc::SI_QUEUE, value as u64), pc)
    };
    fn raise(signal: c_int) -> c_int, pc => {
        if !valid(signal) {
            return real::raise(signal);
        }
        time::errno_result(thread_kill(Some(gate::me()), from_here(signal, libc::SI_TKILL, 0), pc))
    };
    fn gsignal(signal: c_int) -> c_int, pc => {
        if !valid(signal) {
            return real::gsignal(signal);
        }
        time::errno_result(thread_kill(Some(gate::me()), from_here(signal, libc::SI_TKILL, 0), pc))
    };
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int, pc => {
        match wait_for(read_set(set), 0, Interrupt::Never, pc) {
            Ok(caught) => {
                *signal = caught.number;
                0
            }
            Err(errno) => errno,
        }
    };
    fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int,
        pc => wait_info(set, info, core::ptr::null(), pc);
    fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int,
        pc => wait_info(set, info, limit, pc);
    fn sigpending(set: *mut sigset_t) -> c_int, pc => {
        gate::ask(kept::PENDING, false, pc);
        time::errno_result(needed_at(set, |set| {
            write_set(set, world(|w| w.pending(gate::me()) & w.mask(gate::me())));
            0
        }))
    };
    fn sigsuspend(set: *const sigset_t) -> c_int, pc => suspend(read_set(set), pc);
    fn __xpg_sigpause(signal: c_int) -> c_int, pc => match valid(signal) {
        true => suspend(mask_of(gate::me()) & !bit(signal), pc),
        false => time::errno_result(EINVAL),
    };
    fn sigpause(set: c_int) -> c_int, pc => suspend(u64::from(set as u32), pc);
    fn pause() -> c_int, pc => pause_here(pc);
    fn sigaltstack(new: *const libc::stack_t, old: *mut libc::stack_t) -> c_int,
        pc => match is_gone(new) {
            true => time::errno_result(EFAULT),
            false => time::errno_result(written_to(old, |old| deliver::alternate_stack(new, old))),
        };
}
