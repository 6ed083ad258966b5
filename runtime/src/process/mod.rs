//! Other processes that the target makes, and calls that concern the whole process.
//!
//! A child process is not controlled: the library is passive in it ([`make`]). Waiting for it is
//! a wait for something outside ([`Pending::outside`]): other threads go on meanwhile.

mod credentials;
pub mod loader;
#[expect(non_snake_case, reason = "_Fork is a function of the C library")]
mod make;
mod shell;

use crate::gate::{self, Interrupt, Pending, Wake};
use crate::serial::Serial;
use crate::{intercept, os, sync, threads, time};
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use libc::{EINTR, id_t, idtype_t, pid_t, siginfo_t};
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

/// Whom to wait for, as `waitid` has it; packed into [`Pending::aux`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wanted {
    by: idtype_t,
    id: id_t,
    /// WEXITED and its kin, without WNOHANG.
    states: c_int,
}

impl Wanted {
    /// Low flags are packed by themselves; the three high ones, that select kinds of children,
    /// have their bits above.
    const LOW: c_int = 0xff;

    /// What `waitpid` means by a process id and options.
    fn of(pid: pid_t, options: c_int) -> Wanted {
        let (by, id) = match pid {
            -1 => (libc::P_ALL, 0),
            0 => (libc::P_PGID, 0),
            n if n < 0 => (libc::P_PGID, n.unsigned_abs()),
            n => (libc::P_PID, n as id_t),
        };
        Wanted {
            by,
            id,
            states: libc::WEXITED | options & !libc::WNOHANG,
        }
    }

    fn pack(self) -> u64 {
        let low = (self.states & Wanted::LOW) as u64;
        let high = (self.states as u32 >> 24) as u64;
        u64::from(self.id) | u64::from(self.by) << 32 | low << 40 | high << 48
    }

    fn unpack(word: u64) -> Wanted {
        Wanted {
            by: (word >> 32) as u8 as idtype_t,
            id: word as u32,
            states: (word >> 40 & 0xff) as c_int | ((word >> 48 & 0xff) as u32 as c_int) << 24,
        }
    }

    /// Would the wait return at once (also with an error)?
    fn is_over(self) -> bool {
        // SAFETY: the kernel fills the structure.
        unsafe {
            let mut info: siginfo_t = core::mem::zeroed();
            let options = (self.states | libc::WNOHANG | libc::WNOWAIT) as usize;
            let (by, id) = (self.by as usize, self.id as usize);
            let into = &raw mut info as usize;
            let result = os::syscall(libc::SYS_waitid, by, id, into, options, 0, 0);
            result != 0 || info.si_pid() != 0
        }
    }
}

/// Has a child been made that has a copy of our memory, and shares what is mapped as shared?
static FORKED: AtomicBool = AtomicBool::new(false);

/// See [`FORKED`].
pub fn has_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Has any child been made?
static MADE: AtomicBool = AtomicBool::new(false);

/// A child has been made.
fn child_made() {
    MADE.store(true, Ordering::Relaxed);
}

/// See [`MADE`].
pub fn has_children() -> bool {
    MADE.load(Ordering::Relaxed)
}

/// May a child still do something? Children that have ended and were not waited for are taken for
/// alive during so many calls, since others may be behind them.
pub fn any_alive() -> bool {
    const PATIENCE: u32 = 1000;
    static ENDED: AtomicU32 = AtomicU32::new(0);
    // SAFETY: the kernel fills the structure.
    let (result, ended) = unsafe {
        let mut info: siginfo_t = core::mem::zeroed();
        let options = (libc::WEXITED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL) as usize;
        let into = &raw mut info as usize;
        let all = libc::P_ALL as usize;
        let result = os::syscall(libc::SYS_waitid, all, 0, into, options, 0, 0);
        (result, info.si_pid() != 0)
    };
    result == 0 && !(ended && ENDED.fetch_add(1, Ordering::Relaxed) >= PATIENCE)
}

fn over(p: &Pending, _: Slot) -> bool {
    Wanted::unpack(p.aux).is_over()
}

/// Lets others go on until the wait can return; false when a handler's return ends it.
fn wait_until_over(wanted: Wanted, cancel: Cancel, pc: usize) -> bool {
    let wake = gate::point(Pending {
        aux: wanted.pack(),
        ready: over,
        cancellable: cancel != Cancel::Never,
        interrupt: if cancel == Cancel::Never {
            Interrupt::Never
        } else {
            Interrupt::UnlessRestart
        },
        outside: true,
        ..sync::pending(Kind::ChildWait, 0, pc)
    });
    if wake == Wake::Cancelled {
        if let Cancel::Kills(pid) = cancel {
            // SAFETY: a child that has not been waited for.
            unsafe {
                os::syscall(
                    libc::SYS_kill,
                    pid as usize,
                    libc::SIGKILL as usize,
                    0,
                    0,
                    0,
                    0,
                )
            };
            reap(pid);
        }
        threads::cancel_now();
    }
    wake != Wake::Interrupted
}

/// What a cancellation of the waiting thread does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cancel {
    /// Nothing: it is no cancellation point, and handlers do not end it.
    Never,
    /// The wait ends.
    Ends,
    /// The child ends too.
    Kills(pid_t),
}

/// Waits for a killed child, for good.
fn reap(pid: pid_t) {
    // SAFETY: no status is asked for.
    unsafe { os::syscall(libc::SYS_wait4, pid as usize, 0, 0, 0, 0, 0) };
}

/// So often a poll for a child that goes on is answered at once; then real time must pass, or a
/// loop around it would be over before the child has begun.
const POLLS: u32 = 16;

/// The children whose numbers the runtime has come to know, in the order in which they were made.
static CHILDREN: Serial<([pid_t; MOST_CHILDREN], usize)> = Serial::new(([0; MOST_CHILDREN], 0));
/// So many are told apart.
const MOST_CHILDREN: usize = 256;

/// The child with this number was made.
fn remember(child: pid_t) {
    // SAFETY: the running thread.
    let (children, count) = unsafe { CHILDREN.get() };
    if child > 0 && *count < MOST_CHILDREN {
        children[*count] = child;
        *count += 1;
    }
}

/// What a look for children finds, as a fact.
mod look {
    pub const NOBODY: u16 = 0;
    /// A child that is not known.
    pub const SOMEBODY: u16 = 1;
    /// From here on: the known children.
    pub const CHILD: u16 = 2;
    /// From here on: errors.
    pub const ERROR: u16 = 1 << 12;
}

/// What `look`, a call that does not wait, finds: the number of a child, 0, or a negative errno. Which
/// of several children (`several`) has ended first is a fact: `look` is given the one that it is to
/// be.
fn found(several: bool, mut look: impl FnMut(Option<pid_t>) -> isize) -> isize {
    let mut result = 0;
    gate::fact(|wanted| {
        // SAFETY: the running thread.
        let (children, count) = unsafe { CHILDREN.get() };
        let known = &children[..*count];
        let which = match wanted {
            Some(look::NOBODY) => {
                result = 0;
                return look::NOBODY;
            }
            Some(k @ look::CHILD..look::ERROR) if several => {
                known.get(usize::from(k - look::CHILD)).copied()
            }
            _ => None,
        };
        result = look(which);
        match result {
            ..0 => look::ERROR + (-result) as u16,
            0 => look::NOBODY,
            // A number may be used again: the child made last has it.
            _ => match known.iter().rposition(|&pid| pid as isize == result) {
                Some(k) => look::CHILD + k as u16,
                None => look::SOMEBODY,
            },
        }
    });
    result
}

/// A call with WNOHANG has found nothing.
fn polled_in_vain() {
    static VAIN: AtomicU32 = AtomicU32::new(0);
    if VAIN.fetch_add(1, Ordering::Relaxed) >= POLLS {
        os::rest(100_000);
    }
}

/// `wait4` and its kin: the child, 0, or a negative errno.
///
/// # Safety
/// The pointers are null or writable.
unsafe fn wait_for(
    pid: pid_t,
    status: *mut c_int,
    options: c_int,
    usage: *mut libc::rusage,
    pc: usize,
) -> isize {
    if options & libc::WNOHANG != 0 {
        gate::simple(Kind::ChildWait, 0, pc);
    } else if !wait_until_over(Wanted::of(pid, options), Cancel::Ends, pc) {
        log_wait(0, pc);
        return -(EINTR as isize);
    }
    let (status, usage) = (status as usize, usage as usize);
    let hang = (options | libc::WNOHANG) as usize;
    let result = found(pid <= 0, |which| {
        let pid = which.unwrap_or(pid) as usize;
        // SAFETY: the caller's promise.
        unsafe { os::syscall(libc::SYS_wait4, pid, status, hang, usage, 0, 0) }
    });
    if result == 0 {
        polled_in_vain();
    }
    log_wait(result, pc);
    result
}

/// Process ids differ between executions: only whether there was one is recorded.
fn log_wait(result: isize, pc: usize) {
    gate::log(Kind::ChildWait, 0, u64::from(result > 0), pc);
}

/// `waitid`: 0 or a negative errno.
///
/// # Safety
/// `info` is null or writable.
unsafe fn wait_by_id(
    by: idtype_t,
    id: id_t,
    info: *mut siginfo_t,
    options: c_int,
    pc: usize,
) -> isize {
    let wanted = Wanted {
        by,
        id,
        states: options & !(libc::WNOHANG | libc::WNOWAIT),
    };
    if options & libc::WNOHANG != 0 {
        gate::simple(Kind::ChildWait, 0, pc);
    } else if !wait_until_over(wanted, Cancel::Ends, pc) {
        log_wait(0, pc);
        return -(EINTR as isize);
    }
    let hang = (options | libc::WNOHANG) as usize;
    // SAFETY: the kernel fills the structure.
    let mut seen: siginfo_t = unsafe { core::mem::zeroed() };
    let result = found(by != libc::P_PID, |which| {
        let (by, id) = match which {
            Some(pid) => (libc::P_PID, pid as id_t),
            None => (by, id),
        };
        let into = &raw mut seen as usize;
        // SAFETY: as above.
        unsafe {
            match os::syscall(libc::SYS_waitid, by as usize, id as usize, into, hang, 0, 0) {
                0 => seen.si_pid() as isize,
                errno => errno,
            }
        }
    });
    if result == 0 {
        // SAFETY: as above.
        seen = unsafe { core::mem::zeroed() };
    }
    if result >= 0 && !info.is_null() {
        // SAFETY: the caller's promise.
        unsafe { info.write(seen) };
    }
    log_wait(isize::from(result >= 0), pc);
    result.min(0)
}

/// A kernel's result as the C library returns it.
fn result_of(result: isize) -> c_int {
    match result {
        0.. => result as c_int,
        errno => time::errno_result(-errno as c_int),
    }
}

/// The direct system calls.
///
/// # Safety
/// As the calls' manual pages say.
pub unsafe fn wait_call(args: [usize; 6], by_id: bool, pc: usize) -> isize {
    let [a, b, c, d, ..] = args;
    // SAFETY: the caller's promise.
    unsafe {
        match by_id {
            true => wait_by_id(
                a as idtype_t,
                b as id_t,
                c as *mut siginfo_t,
                d as c_int,
                pc,
            ),
            false => wait_for(
                a as pid_t,
                b as *mut c_int,
                c as c_int,
                d as *mut libc::rusage,
                pc,
            ),
        }
    }
}

const NO_USAGE: *mut libc::rusage = core::ptr::null_mut();

intercept! {
    kernel;
    fn wait(status: *mut c_int) -> pid_t, pc => result_of(wait_for(-1, status, 0, NO_USAGE, pc));
    fn waitpid(pid: pid_t, status: *mut c_int, options: c_int) -> pid_t,
        pc => result_of(wait_for(pid, status, options, NO_USAGE, pc));
    fn wait3(status: *mut c_int, options: c_int, usage: *mut libc::rusage) -> pid_t,
        pc => result_of(wait_for(-1, status, options, usage, pc));
    fn wait4(pid: pid_t, status: *mut c_int, options: c_int, usage: *mut libc::rusage) -> pid_t,
        pc => result_of(wait_for(pid, status, options, usage, pc));
    fn waitid(by: idtype_t, id: id_t, info: *mut siginfo_t, options: c_int) -> c_int,
        pc => result_of(wait_by_id(by, id, info, options, pc));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_to_wait_for_is_packed_and_unpacked() {
        for (pid, options, by, id, states) in [
            (-1, 0, libc::P_ALL, 0, libc::WEXITED),
            (0, 0, libc::P_PGID, 0, libc::WEXITED),
            (-77, 0, libc::P_PGID, 77, libc::WEXITED),
            (99, libc::WNOHANG, libc::P_PID, 99, libc::WEXITED),
            (
                99,
                libc::WUNTRACED,
                libc::P_PID,
                99,
                libc::WEXITED | libc::WSTOPPED,
            ),
            (
                99,
                libc::__WALL,
                libc::P_PID,
                99,
                libc::WEXITED | libc::__WALL,
            ),
        ] {
            let wanted = Wanted::of(pid, options);
            assert_eq!(wanted, Wanted { by, id, states }, "{pid} {options}");
            assert_eq!(Wanted::unpack(wanted.pack()), wanted, "{pid} {options}");
        }
    }
}
