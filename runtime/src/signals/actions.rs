//! Dispositions: what the program asked for, and what the kernel is told. A handler of the
//! program is not the kernel's: the kernel has [`on_native`], which runs the program's handler at
//! once for a fault, and otherwise leaves the signal for the next point of the gate.

use super::world::{Action, Default, LAST, Set, Signal, bit, default_of};
use super::{read_set, world, write_set};
use crate::gate::records::Interrupted;
use crate::serial::Serial;
use crate::shadow;
use crate::{ends, gate, intercept, os, time};
use core::ffi::{c_int, c_void};
use core::sync::atomic::{AtomicU64, Ordering};
use libc::{EINVAL, siginfo_t};
use raddle_protocol::conflict::kept;
use raddle_protocol::event::{Kind, handlers};

/// A handler as the kernel calls it.
type Handler = extern "C-unwind" fn(c_int, *mut siginfo_t, *mut c_void);

/// The C library's functions, which are also of use where nothing is controlled.
mod native {
    use super::*;
    crate::real! {
        fn sigaction(
            number: c_int,
            new: *const libc::sigaction,
            old: *mut libc::sigaction,
        ) -> c_int;
        fn signal(number: c_int, handler: usize) -> usize;
    }
}

/// So many signals of one number are kept until they are taken in; the kernel, too, may lose one of
/// several.
const KEPT: usize = 8;

/// What came from the kernel and waits for a point, for each number.
struct Mail {
    signals: [Signal; KEPT],
    /// How many have come, and how many were taken.
    came: usize,
    taken: usize,
}

impl Mail {
    const EMPTY: Mail = Mail {
        signals: [Signal::plain(0, 0); KEPT],
        came: 0,
        taken: 0,
    };

    fn put(&mut self, signal: Signal) {
        if self.came - self.taken < KEPT {
            self.signals[self.came % KEPT] = signal;
            self.came += 1;
        }
    }

    fn is_empty(&self) -> bool {
        self.came == self.taken
    }

    /// The oldest; when all were taken, the last one again.
    fn take(&mut self) -> Signal {
        if !self.is_empty() {
            self.taken += 1;
        }
        self.signals[(self.taken.wrapping_sub(1)) % KEPT]
    }
}

/// The numbers of which there is something in [`MAIL`].
static ARRIVED: AtomicU64 = AtomicU64::new(0);
static MAIL: Serial<[Mail; LAST as usize + 1]> =
    Serial::new([const { Mail::EMPTY }; LAST as usize + 1]);

/// The mail of this number.
fn mail(number: c_int) -> &'static mut Mail {
    // SAFETY: the handler of a signal puts something in while that signal is blocked; everybody else
    // uses it as the running thread. Not kept.
    unsafe { &mut MAIL.get()[number as usize] }
}

/// A signal came from the kernel.
fn keep(signal: Signal) {
    mail(signal.number).put(signal);
    ARRIVED.fetch_or(bit(signal.number), Ordering::Release);
    super::mark_busy();
}

/// The program's disposition of `signal`.
pub fn action_of(signal: c_int) -> Action {
    if let Some(action) = world(|w| w.actions[signal as usize]) {
        return action;
    }
    // SAFETY: asks only.
    let native = unsafe {
        let mut native: libc::sigaction = core::mem::zeroed();
        native::sigaction(signal, core::ptr::null(), &mut native);
        native
    };
    let action = match is_ours(signal, native.sa_sigaction) {
        true => Action::DEFAULT,
        false => Action {
            handler: native.sa_sigaction,
            flags: native.sa_flags,
            // SAFETY: filled in above.
            mask: unsafe { read_set(&native.sa_mask) },
        },
    };
    world(|w| w.actions[signal as usize] = Some(action));
    action
}

/// Does the kernel have a handler of the library's in place of the program's?
fn is_ours(signal: c_int, handler: usize) -> bool {
    ends::is_handler(handler)
        || handler == on_native as *const () as usize
        || crate::raw::taken() & bit(signal) != 0
}

/// What a child process, which is not controlled, is told of `signal`, where `handler` is what the
/// kernel has: the dispositions of its parent are still in the memory that it began with.
fn inherited(signal: c_int, handler: usize) -> Option<Action> {
    let ours = known(signal) && is_ours(signal, handler);
    ours.then(|| world(|w| w.actions[signal as usize]).unwrap_or(Action::DEFAULT))
}

/// The signals for which there is a function to call.
pub fn handled_of(set: Set) -> Set {
    chosen_of(set, |s| action_of(s).handles())
}

/// The signals that are ignored as the program asked for.
pub fn ignored_of(set: Set) -> Set {
    chosen_of(set, |s| action_of(s).handler == libc::SIG_IGN)
}

/// The signals that call a function or end the process.
pub fn effective_of(set: Set) -> Set {
    chosen_of(set, |s| match action_of(s).handler {
        libc::SIG_DFL => default_of(s) == Default::Ends,
        handler => handler != libc::SIG_IGN,
    })
}

fn chosen_of(set: Set, chosen: impl Fn(c_int) -> bool) -> Set {
    (1..=LAST)
        .filter(|&s| set & bit(s) != 0 && chosen(s))
        .fold(0, |all, s| all | bit(s))
}

/// Sets the disposition, here and in the kernel.
pub fn set_action(signal: c_int, action: Action) {
    if action.handles() {
        let of = handlers::signal(signal as u64);
        gate::log(Kind::HandedOn, of, 0, 0);
    }
    world(|w| {
        w.actions[signal as usize] = Some(action);
        if action.ignores(signal) {
            w.discard(signal);
        }
    });
    let taken = crate::raw::taken() & bit(signal) != 0;
    if taken || action.handler == libc::SIG_DFL && ends::watch(signal) {
        return;
    }
    let kept = libc::SA_RESTART | libc::SA_NODEFER | libc::SA_NOCLDSTOP | libc::SA_NOCLDWAIT;
    // SAFETY: the kernel gets a handler that lives as long as the process, or a constant.
    unsafe {
        let mut native: libc::sigaction = core::mem::zeroed();
        native.sa_sigaction = action.handler;
        native.sa_flags = action.flags & kept;
        if action.handles() {
            native.sa_sigaction = on_native as *const () as usize;
            native.sa_flags |= libc::SA_SIGINFO | action.flags & libc::SA_ONSTACK;
        }
        write_set(&mut native.sa_mask, action.mask);
        native::sigaction(signal, &native, core::ptr::null_mut());
    }
}

/// What an instruction of the thread itself raises.
pub const FAULTS: [c_int; 6] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
];

/// Must the handler run here and now, because the thread cannot go on before it has?
fn at_once(signal: c_int, code: c_int) -> bool {
    FAULTS.contains(&signal) && code > 0 || signal == libc::SIGABRT || signal == libc::SIGPIPE
}

/// What the kernel calls in place of the program's handler.
extern "C-unwind" fn on_native(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the kernel passes a valid siginfo and context.
    if unsafe { crate::raw::performed(signal, info, context) } {
        return;
    }
    // SAFETY: as above.
    let code = unsafe { (*info).si_code };
    if gate::obeys() && !at_once(signal, code) {
        // SAFETY: as above.
        keep(unsafe { read_info(info) });
        return;
    }
    let mut interrupted = None;
    if gate::obeys() {
        if FAULTS.contains(&signal) {
            interrupted = Interrupted::now();
        }
        // Who changes what becomes of it comes before, or behind.
        gate::ask(kept::action_of(signal as u32), false, 0);
        if crate::vars::symbolic() {
            shadow::use_states("raise", &[], 0);
        }
    }
    let action = world(|w| w.actions[signal as usize]).unwrap_or(Action::DEFAULT);
    if !action.handles() {
        // The instruction is executed again, and `abort` sends the signal again: they meet what is set
        // now.
        if signal == libc::SIGPIPE {
            super::act_by_default(signal);
        }
        interrupted.into_iter().for_each(Interrupted::again);
        return;
    }
    if action.flags & libc::SA_RESETHAND != 0 {
        set_action(signal, action.reset());
    }
    // SAFETY: the program gave this function for this signal.
    let handler = unsafe { core::mem::transmute::<usize, Handler>(action.handler) };
    handler(signal, info, context);
    interrupted.into_iter().for_each(Interrupted::again);
}

/// See [`super::have_arrived`].
pub fn have_arrived() -> bool {
    ARRIVED.load(Ordering::Relaxed) != 0
}

/// Takes signals that are blocked from the kernel, which keeps them for the process.
pub fn fetch_blocked() {
    let mut kept: Set = 0;
    // SAFETY: the kernel writes eight bytes.
    unsafe {
        let at = &raw mut kept as usize;
        os::syscall(libc::SYS_rt_sigpending, at, size_of::<Set>(), 0, 0, 0, 0);
    }
    let known = ARRIVED.load(Ordering::Relaxed) | crate::raw::taken();
    for signal in (1..=LAST).filter(|&s| kept & !known & bit(s) != 0) {
        let set = bit(signal);
        let at_once = libc::timespec {
            tv_sec: 0,
            tv_nsec: 0,
        };
        // SAFETY: the kernel reads a set and a time, and fills the structure, whose bytes may be
        // any; read as in `on_native`.
        unsafe {
            let mut info: siginfo_t = core::mem::zeroed();
            let (set, into) = (&raw const set as usize, &raw mut info as usize);
            let limit = &raw const at_once as usize;
            let call = libc::SYS_rt_sigtimedwait;
            let taken = os::syscall(call, set, into, limit, size_of::<Set>(), 0, 0);
            if taken == signal as isize {
                keep(read_info(&info));
            }
        }
    }
}

/// What came from the kernel becomes pending for the process, as far as the schedule has it.
pub fn collect() {
    while let Some(number) = gate::arrival(find) {
        let number = c_int::from(number);
        ARRIVED.fetch_and(!bit(number), Ordering::AcqRel);
        let signal = mail(number).take();
        if !mail(number).is_empty() {
            ARRIVED.fetch_or(bit(number), Ordering::Release);
        }
        // Children that end are named where they were made.
        let own = signal.sender == crate::numbers::PROCESS || number == libc::SIGCHLD;
        if !own {
            gate::uncontrolled("a signal from outside");
        }
        super::post_from_outside(signal);
    }
}

/// The wanted signal, or any, if it has come.
fn find(wanted: Option<u16>) -> Option<u16> {
    let Some(wanted) = wanted else {
        let arrived = ARRIVED.load(Ordering::Acquire);
        return (arrived != 0).then(|| arrived.trailing_zeros() as u16 + 1);
    };
    let number = c_int::from(wanted);
    if !(1..=LAST).contains(&number) {
        return None;
    }
    fetch_blocked();
    // The kernel makes one signal of those of two children that end at the same time.
    let merged =
        || number == libc::SIGCHLD && mail(number).came > 0 && !crate::process::any_alive();
    (!mail(number).is_empty() || merged()).then_some(wanted)
}

/// Where a `siginfo_t` keeps what [`Signal`] has.
const SENDER: usize = 16;
const MORE: usize = 20;
const VALUE: usize = 24;

/// The field that most signals have the sender's number in, as the program is to see it.
fn sender(field: c_int, code: c_int) -> c_int {
    let has_sender = [libc::SI_USER, libc::SI_QUEUE, libc::SI_TKILL].contains(&code);
    if has_sender {
        crate::numbers::shown(field)
    } else {
        field
    }
}

/// # Safety
/// `info` points to a siginfo.
unsafe fn read_info(info: *const siginfo_t) -> Signal {
    // SAFETY: within the structure, aligned as the kernel lays it out.
    unsafe {
        Signal {
            number: (*info).si_signo,
            code: (*info).si_code,
            sender: sender(
                info.byte_add(SENDER).cast::<c_int>().read(),
                (*info).si_code,
            ),
            more: info.byte_add(MORE).cast::<c_int>().read(),
            value: info.byte_add(VALUE).cast::<u64>().read(),
        }
    }
}

/// The `siginfo_t` of `signal`.
pub fn info_of(signal: Signal) -> siginfo_t {
    // SAFETY: plain words of a structure that may be zero; the offsets are the kernel's.
    unsafe {
        let mut info: siginfo_t = core::mem::zeroed();
        info.si_signo = signal.number;
        info.si_code = signal.code;
        let at = &raw mut info;
        at.byte_add(SENDER).cast::<c_int>().write(signal.sender);
        at.byte_add(MORE).cast::<c_int>().write(signal.more);
        at.byte_add(VALUE).cast::<u64>().write(signal.value);
        info
    }
}

/// The C library keeps these two for itself.
const INTERNAL: [c_int; 2] = [32, 33];

/// Is it one of these?
pub fn is_internal(signal: c_int) -> bool {
    INTERNAL.contains(&signal)
}

/// Can a program ask about this signal?
pub fn known(signal: c_int) -> bool {
    super::world::valid(signal) && !is_internal(signal)
}

/// Can a program set what happens?
pub fn changeable(signal: c_int) -> bool {
    known(signal) && signal != libc::SIGKILL && signal != libc::SIGSTOP
}

/// `sigaction`.
///
/// # Safety
/// The pointers are null or as the function's documentation says.
unsafe fn change(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int {
    if !known(signal) || !new.is_null() && !changeable(signal) {
        return time::errno_result(EINVAL);
    }
    gate::ask(kept::action_of(signal as u32), !new.is_null(), 0);
    let before = action_of(signal);
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(new) = new.as_ref() {
            set_action(
                signal,
                Action {
                    handler: new.sa_sigaction,
                    flags: new.sa_flags,
                    mask: read_set(&new.sa_mask),
                },
            );
        }
        show(before, old);
    }
    0
}

/// # Safety
/// `into` is null or writable.
unsafe fn show(action: Action, into: *mut libc::sigaction) {
    // SAFETY: the caller's promise.
    unsafe {
        if let Some(into) = into.as_mut() {
            into.sa_sigaction = action.handler;
            into.sa_flags = action.flags;
            write_set(&mut into.sa_mask, action.mask);
        }
    }
}

/// What `sigaction` jumps to.
unsafe extern "C-unwind" fn on_sigaction(
    number: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    _pc: usize,
) -> c_int {
    // SAFETY: the program's arguments.
    unsafe {
        if gate::active() {
            return change(number, new, old);
        }
        let result = native::sigaction(number, new, old);
        if result == 0
            && !old.is_null()
            && let Some(action) = inherited(number, (*old).sa_sigaction)
        {
            show(action, old);
        }
        result
    }
}

/// What `signal` jumps to.
unsafe extern "C-unwind" fn on_signal(number: c_int, handler: usize, pc: usize) -> usize {
    if gate::active() {
        gate::ask(kept::action_of(number as u32), true, pc);
        return install(number, handler, libc::SA_RESTART);
    }
    // SAFETY: the program's arguments.
    let former = unsafe { native::signal(number, handler) };
    inherited(number, former).map_or(former, |action| action.handler)
}

/// [`install`] for the kin of `signal` that `verify` has no state for.
fn install_by(signal: c_int, handler: usize, flags: c_int, pc: usize) -> usize {
    gate::ask_unfollowed(kept::action_of(signal as u32), true, pc);
    install(signal, handler, flags)
}

/// `signal` and its kin: the former handler, or SIG_ERR.
fn install(signal: c_int, handler: usize, flags: c_int) -> usize {
    if !changeable(signal) || handler == libc::SIG_ERR {
        time::errno_result(EINVAL);
        return libc::SIG_ERR;
    }
    let before = action_of(signal).handler;
    let mask = if flags & libc::SA_NODEFER != 0 {
        0
    } else {
        bit(signal)
    };
    set_action(
        signal,
        Action {
            handler,
            flags,
            mask,
        },
    );
    before
}

/// `siginterrupt`.
fn set_interrupt(signal: c_int, interrupts: bool, pc: usize) -> c_int {
    if !known(signal) {
        return time::errno_result(EINVAL);
    }
    gate::ask_unfollowed(kept::action_of(signal as u32), true, pc);
    let mut action = action_of(signal);
    action.flags &= !libc::SA_RESTART;
    if !interrupts {
        action.flags |= libc::SA_RESTART;
    }
    set_action(signal, action);
    0
}

/// System V's: the handler runs once, and is not blocked meanwhile.
const ONCE: c_int = libc::SA_RESETHAND | libc::SA_NODEFER;

crate::export! {
    fn sigaction(number: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int
        = on_sigaction;
    fn signal(number: c_int, handler: usize) -> usize = on_signal;
}

intercept! {
    fn ssignal(number: c_int, handler: usize) -> usize, pc => install_by(number, handler, libc::SA_RESTART, pc);
    fn sysv_signal(number: c_int, handler: usize) -> usize, pc => install_by(number, handler, ONCE, pc);
    fn __sysv_signal(number: c_int, handler: usize) -> usize, pc => install_by(number, handler, ONCE, pc);
    fn siginterrupt(number: c_int, interrupts: c_int) -> c_int, pc => set_interrupt(number, interrupts != 0, pc);
    fn sigignore(number: c_int) -> c_int, pc => match install_by(number, libc::SIG_IGN, 0, pc) {
        libc::SIG_ERR => -1,
        _ => 0,
    };
}
