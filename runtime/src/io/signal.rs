//! signalfd. Signals between the program's threads never reach the kernel's pending sets
//! ([`crate::signals`]), so a counter stands for the descriptor: it is not zero, and so readable,
//! while a signal of its set is pending.

use super::table::Object;
use super::wait::{Operation, WOULD_BLOCK, Waiting, answer};
use super::{raw, table};
use crate::gate;
use crate::gone::Memory;
use crate::intercept;
use crate::os::syscall;
use crate::serial::Serial;
use crate::signals::{self, Signal};
use core::ffi::{c_int, c_void};
use libc::{
    EFD_CLOEXEC, EFD_NONBLOCK, POLLIN, SFD_CLOEXEC, SFD_NONBLOCK, signalfd_siginfo, sigset_t,
};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;

/// Most descriptors for signals.
const MOST: usize = 16;

#[derive(Clone, Copy)]
struct Source {
    /// Number of its object; 0: none.
    object: u64,
    /// A descriptor of our own, which stays when the program's are closed.
    counter: c_int,
    signals: u64,
}

static SOURCES: Serial<[Source; MOST]> = Serial::new(
    [Source {
        object: 0,
        counter: -1,
        signals: 0,
    }; MOST],
);

fn sources() -> &'static mut [Source; MOST] {
    // SAFETY: the running thread; nothing below switches.
    unsafe { SOURCES.get() }
}

/// Descriptors of ours have numbers from here on.
const OWN: usize = 902;

fn make(signals: u64, flags: c_int, pc: usize) -> isize {
    let Some(free) = sources().iter().position(|s| s.object == 0) else {
        return -(libc::EMFILE as isize);
    };
    let mut own = EFD_NONBLOCK;
    if flags & SFD_CLOEXEC != 0 {
        own |= EFD_CLOEXEC;
    }
    // SAFETY: numbers only.
    let fd = unsafe { syscall(libc::SYS_eventfd2, 0, own as usize, 0, 0, 0, 0) };
    if fd < 0 {
        return fd;
    }
    let counter = raw::fcntl(fd as c_int, libc::F_DUPFD_CLOEXEC, OWN) as c_int;
    let object = table::made(What::Signal, fd as c_int, -1, false, pc);
    sources()[free] = Source {
        object: object.number,
        counter,
        signals,
    };
    if flags & SFD_NONBLOCK == 0 {
        raw::fcntl(fd as c_int, libc::F_SETFL, 0);
    }
    refresh();
    fd
}

/// `signalfd`: a new one, or another set for one that there is.
fn signalfd(fd: c_int, signals: u64, flags: c_int, pc: usize) -> isize {
    if fd == -1 {
        return make(signals, flags, pc);
    }
    let known = table::find(fd).filter(|object| object.what == What::Signal);
    let source = known.and_then(|o| sources().iter_mut().find(|s| s.object == o.number));
    match source {
        Some(source) => {
            source.signals = signals;
            refresh();
            fd as isize
        }
        None => -(libc::EINVAL as isize),
    }
}

/// The pending signals have changed: so may what is readable.
pub fn refresh() {
    let mut any = false;
    for source in sources().iter().filter(|s| s.object != 0) {
        any = true;
        let mut word = 1u64;
        let at = &raw mut word as usize;
        let call = match signals::is_pending(source.signals) {
            true => libc::SYS_write,
            false => libc::SYS_read,
        };
        if (call == libc::SYS_read) == raw::is_ready(source.counter, POLLIN) {
            // SAFETY: eight bytes; the counter does not block for us, since it has been polled.
            unsafe { syscall(call, source.counter as usize, at, size_of::<u64>(), 0, 0, 0) };
        }
    }
    if any {
        table::change();
        gate::touch_descriptors();
    }
}

/// `signal` as signalfd(2) shows it.
fn info_of(signal: Signal) -> signalfd_siginfo {
    // SAFETY: any bytes are a value of the structure.
    let mut info: signalfd_siginfo = unsafe { core::mem::zeroed() };
    info.ssi_signo = signal.number as u32;
    info.ssi_code = signal.code;
    match signal.code {
        libc::SI_TIMER => {
            info.ssi_tid = signal.sender as u32;
            info.ssi_overrun = signal.more as u32;
        }
        _ => {
            info.ssi_pid = signal.sender as u32;
            info.ssi_uid = signal.more as u32;
        }
    }
    match signal.number {
        libc::SIGCHLD => info.ssi_status = signal.value as i32,
        _ => {
            info.ssi_int = signal.value as i32;
            info.ssi_ptr = signal.value;
        }
    }
    info
}

/// `read` of a descriptor for signals.
///
/// # Safety
/// As `read`.
pub unsafe fn read(fd: c_int, object: &Object, into: *mut c_void, len: usize, pc: usize) -> isize {
    let room = len / size_of::<signalfd_siginfo>();
    if room == 0 {
        return -(libc::EINVAL as isize);
    }
    let take = || {
        let source = sources().iter().find(|s| s.object == object.number);
        let signals = source.map_or(0, |s| s.signals);
        if into.is_null() || Memory::written(into as usize, len).is_gone() {
            // The kernel finds that out when it has taken the signal.
            let taken = signals::take_pending(signals);
            refresh();
            return taken.map_or(WOULD_BLOCK, |_| -(libc::EFAULT as isize));
        }
        let mut count = 0;
        while count < room
            && let Some(signal) = signals::take_pending(signals)
        {
            // SAFETY: within the program's buffer; any bytes are a value of the structure.
            unsafe {
                into.cast::<signalfd_siginfo>()
                    .add(count)
                    .write_unaligned(info_of(signal));
            }
            count += 1;
        }
        refresh();
        match count {
            0 => WOULD_BLOCK,
            n => (n * size_of::<signalfd_siginfo>()) as isize,
        }
    };
    let operation = Operation::on(Kind::DescriptorRead, fd, object, pc);
    match raw::status_flags(fd) & libc::O_NONBLOCK {
        0 => operation.until_done(Waiting::for_one(fd, POLLIN, object), take),
        _ => operation.at_once(take),
    }
}

intercept! {
    kernel;
    fn signalfd(fd: c_int, set: *const sigset_t, flags: c_int) -> c_int,
        pc => answer(crate::io::signal::signalfd(fd, set.cast::<u64>().read_unaligned(), flags, pc)) as c_int;
}
