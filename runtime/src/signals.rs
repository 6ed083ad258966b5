//! Signals that the program's threads send each other: masks and pending sets per thread.
//!
//! With fibers all threads share one kernel thread, so the kernel's own bookkeeping is of no use:
//! a signal sent by `pthread_kill` would stay pending at a parked helper, and `sigwait` would stop
//! everybody. The model keeps a mask and a pending set for each slot; a handler runs on its own
//! thread, the next time that this is chosen ([`resumed`]). Signals from outside reach whichever
//! thread runs; a wait that a handler would interrupt (EINTR) is not interrupted.

use crate::gate::{self, Pending, Wake};
use crate::serial::Serial;
use crate::{intercept, os, sync, threads, time};
use core::ffi::c_int;
use libc::{pid_t, pthread_t, siginfo_t, sigset_t, timespec};
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

/// A set of signals; bit `n - 1` is signal `n`, as in the kernel's own form.
type Set = u64;

/// Highest signal number.
const LAST: c_int = 64;

fn bit(signal: c_int) -> Set {
    1 << (signal - 1)
}

fn lowest(set: Set) -> c_int {
    set.trailing_zeros() as c_int + 1
}

#[derive(Clone, Copy)]
struct Thread {
    /// Has `mask` been set? Otherwise it is the one that `main` had when threads came up.
    known: bool,
    mask: Set,
    pending: Set,
}

struct World {
    threads: [Thread; slot::COUNT],
    /// Sent to the process while every thread blocked it.
    process: Set,
    /// Mask of a thread that has set none.
    inherited: Set,
    /// Mask that the kernel holds for the fibers' kernel thread.
    kernel: Set,
    /// Some mask or pending set matters: [`resumed`] has work.
    busy: bool,
}

impl World {
    const fn new() -> World {
        World {
            threads: [Thread {
                known: false,
                mask: 0,
                pending: 0,
            }; slot::COUNT],
            process: 0,
            inherited: 0,
            kernel: 0,
            busy: false,
        }
    }

    fn mask(&self, slot: Slot) -> Set {
        let thread = &self.threads[usize::from(slot)];
        if thread.known {
            thread.mask
        } else {
            self.inherited
        }
    }

    fn set_mask(&mut self, slot: Slot, mask: Set) {
        self.busy = true;
        let thread = &mut self.threads[usize::from(slot)];
        thread.known = true;
        thread.mask = mask;
        if slot == slot::MAIN {
            self.inherited = mask;
        }
    }

    /// Takes one pending signal of `wanted` for `slot`: its own first, then the process's.
    fn take(&mut self, slot: Slot, wanted: Set) -> Option<c_int> {
        for pending in [
            &mut self.threads[usize::from(slot)].pending,
            &mut self.process,
        ] {
            if *pending & wanted != 0 {
                let signal = lowest(*pending & wanted);
                *pending &= !bit(signal);
                return Some(signal);
            }
        }
        None
    }

    fn has(&self, slot: Slot, wanted: Set) -> bool {
        (self.threads[usize::from(slot)].pending | self.process) & wanted != 0
    }

    fn send(&mut self, slot: Slot, signal: c_int) {
        self.busy = true;
        self.threads[usize::from(slot)].pending |= bit(signal);
    }
}

/// How `sigprocmask` combines; `None` for an unknown `how`.
fn combine(how: c_int, old: Set, set: Set) -> Option<Set> {
    match how {
        libc::SIG_BLOCK => Some(old | set),
        libc::SIG_UNBLOCK => Some(old & !set),
        libc::SIG_SETMASK => Some(set),
        _ => None,
    }
}

static WORLD: Serial<World> = Serial::new(World::new());

fn world<R>(f: impl FnOnce(&mut World) -> R) -> R {
    // SAFETY: `f` is one of the short closures below; none of them switches threads.
    f(unsafe { WORLD.get() })
}

/// # Safety
/// `set` points to a signal set or is null.
unsafe fn read_set(set: *const sigset_t) -> Set {
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

fn set_kernel_mask(mask: Set) {
    let mask = mask & !crate::raw::unblockable();
    let how = libc::SIG_SETMASK as usize;
    let set = &raw const mask as usize;
    // SAFETY: the kernel reads eight bytes.
    unsafe {
        os::syscall(
            libc::SYS_rt_sigprocmask,
            how,
            set,
            0,
            size_of::<Set>(),
            0,
            0,
        )
    };
}

/// A signal sent to the calling kernel thread is delivered, if it is not blocked, before this
/// returns: its handler runs on the current stack, or the process ends.
fn deliver_here(signal: c_int) {
    // SAFETY: plain system calls.
    unsafe {
        let pid = os::syscall(libc::SYS_getpid, 0, 0, 0, 0, 0, 0) as usize;
        let tid = os::syscall(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) as usize;
        os::syscall(libc::SYS_tgkill, pid, tid, signal as usize, 0, 0, 0);
    }
}

/// The gate calls this when a thread has been switched to: its mask becomes the kernel's, and its
/// pending signals are delivered.
#[inline]
pub fn resumed() {
    if world(|w| w.busy) {
        bring_up_to_date();
    }
}

#[cold]
fn bring_up_to_date() {
    let me = gate::me();
    let mask = world(|w| w.mask(me));
    if fibers() && world(|w| core::mem::replace(&mut w.kernel, mask)) != mask {
        set_kernel_mask(mask);
    }
    while let Some(signal) = world(|w| w.take(me, !mask)) {
        deliver_here(signal);
    }
}

/// A child begins with the mask of its parent.
pub fn inherit(parent: Slot, child: Slot) {
    world(|w| {
        let mask = w.mask(parent);
        if w.busy {
            w.set_mask(child, mask);
        }
    })
}

fn change_mask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int {
    let me = gate::me();
    let before = world(|w| w.mask(me));
    if !set.is_null() {
        // SAFETY: the caller's set.
        let Some(mask) = combine(how, before, unsafe { read_set(set) }) else {
            return libc::EINVAL;
        };
        world(|w| w.set_mask(me, mask));
        if !fibers() {
            set_kernel_mask(mask);
        }
        bring_up_to_date();
    }
    // SAFETY: the caller's set.
    unsafe { write_set(old, before) };
    0
}

/// Is the disposition of `signal` to run a handler of the program?
fn handled(signal: c_int) -> bool {
    // SAFETY: asks only.
    let action = unsafe {
        let mut action: libc::sigaction = core::mem::zeroed();
        libc::sigaction(signal, core::ptr::null(), &mut action);
        action
    };
    action.sa_sigaction != libc::SIG_DFL && action.sa_sigaction != libc::SIG_IGN
}

/// Sends to one thread: kept for it when it blocks or handles the signal, else the default action
/// concerns the whole process and is taken at once.
fn send_to(target: Slot, signal: c_int) {
    let me = gate::me();
    let blocked = world(|w| w.mask(target)) & bit(signal) != 0;
    if blocked || (target != me && handled(signal)) {
        world(|w| w.send(target, signal));
        gate::touch_thread(target);
        crate::io::signals_changed();
    } else {
        deliver_here(signal);
    }
}

/// The step of sending `signal` to `target` (`slot::NONE`: the process).
fn announce_send(target: Slot, signal: c_int, pc: usize) {
    gate::simple(Kind::SignalSend, 0, pc);
    let value = u64::from(target) << 8 | signal as u64;
    gate::log(Kind::SignalSend, 0, value, pc);
}

fn valid(signal: c_int) -> bool {
    (0..=LAST).contains(&signal)
}

/// `pthread_kill`.
fn thread_kill(thread: pthread_t, signal: c_int, pc: usize) -> c_int {
    let Some(target) = threads::slot_of(thread) else {
        return libc::ESRCH;
    };
    if !valid(signal) {
        return libc::EINVAL;
    }
    announce_send(target, signal, pc);
    if signal != 0 && gate::state(target) == gate::State::Alive {
        send_to(target, signal);
    }
    0
}

/// The thread that takes a signal sent to the process: one that waits for it, else one that does
/// not block it, else nobody yet.
fn taker(signal: c_int) -> Option<Slot> {
    let waits = |slot: &Slot| {
        world(|w| w.threads[usize::from(*slot)].pending) == 0
            && gate::announced(*slot)
                .is_some_and(|p| p.kind == Kind::SignalWait && p.aux & bit(signal) != 0)
    };
    gate::alive_threads().find(waits).or_else(|| {
        let open = |slot: &Slot| world(|w| w.mask(*slot)) & bit(signal) == 0;
        Some(gate::me())
            .filter(open)
            .or_else(|| gate::alive_threads().find(open))
    })
}

/// `kill` of the own process.
fn process_kill(signal: c_int, pc: usize) -> c_int {
    announce_send(slot::NONE, signal, pc);
    match taker(signal) {
        Some(slot) if gate::announced(slot).is_some_and(|p| p.kind == Kind::SignalWait) => {
            world(|w| w.send(slot, signal));
            gate::touch_thread(slot);
        }
        Some(slot) => send_to(slot, signal),
        None => world(|w| w.process |= bit(signal)),
    }
    crate::io::signals_changed();
    0
}

/// `raise`.
fn raise_here(signal: c_int, pc: usize) -> c_int {
    announce_send(gate::me(), signal, pc);
    send_to(gate::me(), signal);
    0
}

fn wanted_is_pending(p: &Pending, slot: Slot) -> bool {
    world(|w| w.has(slot, p.aux))
}

/// Waits until a signal of `set` is pending for the caller and takes it; `None` when `deadline`
/// (virtual nanoseconds, 0: none) passes first.
fn wait_for(set: Set, deadline: u64, pc: usize) -> Option<c_int> {
    let me = gate::me();
    let wake = gate::point(Pending {
        aux: set,
        deadline,
        ready: wanted_is_pending,
        cancellable: true,
        ..sync::pending(Kind::SignalWait, 0, pc)
    });
    if wake == Wake::Cancelled {
        threads::cancel_now();
    }
    let signal = world(|w| w.take(me, set));
    gate::log(Kind::SignalWait, 0, signal.unwrap_or(0) as u64, pc);
    signal
}

/// # Safety
/// `info` points to a `siginfo_t` or is null.
unsafe fn write_info(info: *mut siginfo_t, signal: c_int) {
    if !info.is_null() {
        // SAFETY: passed on to the caller.
        unsafe {
            info.write(core::mem::zeroed());
            (*info).si_signo = signal;
            (*info).si_code = libc::SI_TKILL;
        }
    }
}

/// `sigtimedwait`.
///
/// # Safety
/// As the function's own documentation says.
unsafe fn timedwait(
    set: *const sigset_t,
    info: *mut siginfo_t,
    limit: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller's arguments.
    let (set, limit) = unsafe { (read_set(set), limit.as_ref()) };
    let deadline = match limit {
        None => 0,
        Some(t) => gate::now() + 1 + t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64,
    };
    match wait_for(set, deadline, pc) {
        Some(caught) => {
            // SAFETY: the caller's result.
            unsafe { write_info(info, caught) };
            caught
        }
        None => time::errno_result(libc::EAGAIN),
    }
}

/// Waits with `mask` until a handler has run; always "fails" with EINTR.
fn suspend(mask: Set, pc: usize) -> c_int {
    let me = gate::me();
    let before = world(|w| {
        let before = w.mask(me);
        w.set_mask(me, mask);
        before
    });
    let wake = gate::point(Pending {
        aux: !mask,
        ready: wanted_is_pending,
        cancellable: true,
        ..sync::pending(Kind::SignalWait, 0, pc)
    });
    gate::log(Kind::SignalWait, 0, 0, pc);
    bring_up_to_date();
    world(|w| w.set_mask(me, before));
    bring_up_to_date();
    if wake == Wake::Cancelled {
        threads::cancel_now();
    }
    time::errno_result(libc::EINTR)
}

/// Is a signal to `pid` one that the model carries?
fn ours(pid: pid_t, signal: c_int) -> bool {
    // SAFETY: asks only.
    signal != 0 && valid(signal) && pid == unsafe { libc::getpid() }
}

/// Is any of `wanted` pending for any thread, or the process?
pub fn is_pending(wanted: Set) -> bool {
    let threads = |w: &World| gate::alive_threads().any(|s| w.has(s, wanted));
    world(|w| w.process & wanted != 0 || threads(w))
}

/// Takes one of `wanted` that is pending: for the caller, else for the process.
pub fn take_pending(wanted: Set) -> Option<c_int> {
    let me = gate::me();
    world(|w| w.take(me, wanted))
}

/// What is pending for the caller.
fn pending_here() -> Set {
    let me = gate::me();
    world(|w| w.threads[usize::from(me)].pending | w.process)
}

intercept! {
    fn pthread_sigmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int,
        pc => change_mask(how, set, old);
    fn sigprocmask(how: c_int, set: *const sigset_t, old: *mut sigset_t) -> c_int,
        pc => time::errno_result(change_mask(how, set, old));
    fn pthread_kill(thread: pthread_t, signal: c_int) -> c_int, pc => thread_kill(thread, signal, pc);
    fn kill(pid: pid_t, signal: c_int) -> c_int, pc => {
        if !ours(pid, signal) {
            return real::kill(pid, signal);
        }
        process_kill(signal, pc)
    };
    fn raise(signal: c_int) -> c_int, pc => {
        if signal == 0 || !valid(signal) {
            return real::raise(signal);
        }
        raise_here(signal, pc)
    };
    fn sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int, pc => {
        if let Some(caught) = wait_for(read_set(set), 0, pc) {
            *signal = caught;
        }
        0
    };
    fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int, pc => {
        let caught = wait_for(read_set(set), 0, pc).unwrap_or(0);
        write_info(info, caught);
        caught
    };
    fn sigtimedwait(set: *const sigset_t, info: *mut siginfo_t, limit: *const timespec) -> c_int,
        pc => timedwait(set, info, limit, pc);
    fn sigpending(set: *mut sigset_t) -> c_int, pc => {
        write_set(set, pending_here());
        0
    };
    fn sigsuspend(set: *const sigset_t) -> c_int, pc => suspend(read_set(set), pc);
    fn pause() -> c_int, pc => suspend(world(|w| w.mask(gate::me())), pc);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_combine_as_posix_says() {
        let table = [
            (libc::SIG_BLOCK, 0b0110, 0b0011, Some(0b0111)),
            (libc::SIG_UNBLOCK, 0b0110, 0b0011, Some(0b0100)),
            (libc::SIG_SETMASK, 0b0110, 0b0011, Some(0b0011)),
            (77, 0b0110, 0b0011, None),
        ];
        for (how, old, set, expected) in table {
            assert_eq!(combine(how, old, set), expected, "how {how}");
        }
    }

    #[test]
    fn a_thread_takes_its_own_signals_before_the_process_s() {
        let mut w = Box::new(World::new());
        w.process = bit(10) | bit(12);
        w.send(3, 12);
        let wanted = bit(10) | bit(12);
        assert!(w.has(3, wanted) && w.has(4, wanted) && !w.has(3, bit(1)));
        assert_eq!(w.take(3, wanted), Some(12));
        assert_eq!(w.take(3, wanted), Some(10));
        assert_eq!(w.take(4, wanted), Some(12));
        assert_eq!(w.take(4, wanted), None);
    }

    #[test]
    fn threads_without_a_mask_have_main_s() {
        let mut w = Box::new(World::new());
        w.set_mask(slot::MAIN, bit(2));
        assert_eq!(w.mask(9), bit(2));
        w.set_mask(9, bit(3));
        w.set_mask(slot::MAIN, 0);
        assert_eq!((w.mask(9), w.mask(8)), (bit(3), 0));
    }
}
