//! The numbers by which the process and its threads are known.
//!
//! The kernel gives a process another number in each execution, and fibers share one kernel thread.
//! So the program sees numbers of raddle's own: the same in every execution, and above all that the
//! kernel gives, so that none of them is another process's by chance. Whatever hands a number to the
//! kernel is translated ([`calls`]), and what comes from there is, too. A child keeps its real
//! number, and knows its parent by the one that the parent knows itself by.
//!
//! Where the kernel is asked about one thread, or is to set something for it, the thread has a
//! kernel thread that does nothing ([`stand_in`]): what is set is there to be read again, errors are
//! the kernel's own, and the kernel thread that runs all fibers stays as it is.

pub mod calls;
mod paths;
mod stand_in;

use crate::gate::{self, State};
use crate::gone::is_missing;
use crate::{intercept, os, signals, time};
use core::ffi::c_int;
use libc::{SYS_getpgid, SYS_getsid, pid_t};
pub use paths::Path;
use raddle_protocol::conflict::kept;
use raddle_protocol::{Slot, slot};
pub use stand_in::{begins, ended, given, inherit, number as own_kernel_thread};

/// The process's number, and its main thread's: above the most that Linux gives (2²²).
pub const PROCESS: pid_t = 1 << 23;
/// The number of the process's parent.
const PARENT: pid_t = PROCESS - 1;
/// The number of the process's session.
const SESSION: pid_t = PROCESS - 2;
/// What no process and no thread has.
const NOBODY: pid_t = pid_t::MAX;

/// A thread's number.
pub fn of(thread: Slot) -> pid_t {
    PROCESS + pid_t::from(thread)
}

/// Inverse of [`of`].
pub fn slot_of(id: pid_t) -> Option<Slot> {
    let slot = Slot::try_from(id.checked_sub(PROCESS)?).ok()?;
    (usize::from(slot) < slot::COUNT).then_some(slot)
}

/// The thread with this number, if it has not ended.
pub fn thread(id: pid_t) -> Option<Slot> {
    slot_of(id).filter(|&s| is_alive(s))
}

/// Has this thread not ended? Whether it does so before is a matter of the schedule; but main's number is
/// also the process's.
pub fn is_alive(thread: Slot) -> bool {
    if gate::active() && ![slot::MAIN, gate::me()].contains(&thread) {
        gate::ask_unfollowed(kept::life_of(thread), false, 0);
    }
    gate::state(thread) == State::Alive
}

/// The running thread's number.
pub fn own() -> pid_t {
    of(gate::me())
}

/// Is this the process itself, by the number of any of its threads, as `kill` takes it?
pub fn is_own(id: pid_t) -> bool {
    thread(id).is_some()
}

/// Is this the process itself, by its number alone, as `tgkill` takes it?
pub fn is_process(id: pid_t) -> bool {
    id == PROCESS
}

/// Is the caller in the process whose number is [`PROCESS`]? Not in its children.
fn is_here() -> bool {
    gate::obeys()
}

fn ask(number: i64, id: pid_t) -> pid_t {
    // SAFETY: numbers only.
    unsafe { os::syscall(number, id as usize, 0, 0, 0, 0, 0) as pid_t }
}

/// The kernel's number of the process that the program sees by `id`; for a negative one, of the
/// group. All others are as they are.
pub fn process(id: pid_t) -> pid_t {
    let own = gate::process();
    if own == 0 || id.unsigned_abs() < SESSION as u32 || id == pid_t::MIN {
        return id;
    }
    match id.abs() {
        PROCESS if id > 0 => own,
        PROCESS => -ask(SYS_getpgid, own),
        PARENT => parent(own) * id.signum(),
        SESSION => ask(SYS_getsid, own) * id.signum(),
        _ if slot_of(id).is_some() => kernel_thread(id),
        _ => id,
    }
}

/// The parent of the process; in a child, which cannot ask, nobody.
fn parent(own: pid_t) -> pid_t {
    if own == os::process() {
        os::parent()
    } else {
        NOBODY
    }
}

/// The kernel's number of the thread that the program sees by `id`; 0 is the caller.
pub fn kernel_thread(id: pid_t) -> pid_t {
    let wanted = if id == 0 {
        Some(gate::me())
    } else {
        slot_of(id)
    };
    match wanted {
        None => process(id),
        Some(_) if !is_here() && id == 0 => 0,
        Some(slot) if is_here() && is_alive(slot) => stand_in::number(slot),
        Some(slot::MAIN) => process(id),
        Some(_) => NOBODY,
    }
}

/// How the program sees the process or group to which the kernel gave the number `real`.
pub fn shown(real: pid_t) -> pid_t {
    let own = gate::process();
    match real {
        ..=0 => real,
        _ if own == 0 => real,
        _ if real == own => PROCESS,
        _ if real == parent(own) => PARENT,
        _ => real,
    }
}

/// [`shown`], of the owner of a descriptor's signals; a group has a negative number.
pub fn shown_owner(real: isize) -> isize {
    match real as pid_t {
        group @ ..0 => -shown_group(-group) as isize,
        id => match slot_with(id) {
            Some(thread) => of(thread) as isize,
            None => shown(id) as isize,
        },
    }
}

/// Performs a request of `ioctl`, whose argument is `at`, by `call`: it may lead to a number.
///
/// # Safety
/// As `ioctl`.
pub unsafe fn by_request(request: u64, at: usize, call: impl FnOnce(usize) -> isize) -> isize {
    use crate::io::linux::{FIOGETOWN, FIOSETOWN, SIOCGPGRP, SIOCSPGRP};
    // The kernel looks at 32 bits.
    let request = request & 0xffff_ffff;
    let number = at as *mut pid_t;
    if [FIOSETOWN, SIOCSPGRP, libc::TIOCSPGRP].contains(&request)
        && !is_missing(number.cast_const())
    {
        // SAFETY: the number is there.
        let given = unsafe { *number };
        let known = match request {
            libc::TIOCSPGRP => group_of(given),
            _ => process(given),
        };
        return call(&raw const known as usize);
    }
    let result = call(at);
    let shown: fn(isize) -> isize = match request {
        _ if result < 0 => return result,
        FIOGETOWN | SIOCGPGRP => shown_owner,
        libc::TIOCGPGRP => |real| shown_group(real as pid_t) as isize,
        libc::TIOCGSID => |real| shown_session(real as pid_t) as isize,
        _ => return result,
    };
    // SAFETY: what the call has written.
    unsafe { *number = shown(*number as isize) as pid_t };
    result
}

/// The thread whose own kernel thread has this number.
fn slot_with(real: pid_t) -> Option<Slot> {
    gate::alive_threads().find(|&s| stand_in::given(s) == Some(real))
}

/// [`shown`], of a group.
fn shown_group(real: pid_t) -> pid_t {
    let own = gate::process();
    if real > 0 && own != 0 && real == ask(SYS_getpgid, own) {
        return PROCESS;
    }
    shown(real)
}

/// [`shown`], of a session.
fn shown_session(real: pid_t) -> pid_t {
    let own = gate::process();
    if real > 0 && own != 0 && real != own && real == ask(SYS_getsid, own) {
        return SESSION;
    }
    shown(real)
}

intercept! {
    fn getpid() -> pid_t, _pc => PROCESS;
    fn gettid() -> pid_t, _pc => own();
    fn setsid() -> pid_t, _pc => shown(real::setsid());
    fn tcgetpgrp(fd: c_int) -> pid_t, _pc => shown_group(real::tcgetpgrp(fd));
    fn tcsetpgrp(fd: c_int, group: pid_t) -> c_int, _pc => real::tcsetpgrp(fd, group_of(group));
    fn tcgetsid(fd: c_int) -> pid_t, _pc => shown_session(real::tcgetsid(fd));
}

/// The kernel's number of the group that the program sees by `id`.
fn group_of(id: pid_t) -> pid_t {
    match id {
        PROCESS => -process(-id),
        _ => process(id),
    }
}

mod everywhere {
    use super::*;
    crate::real! {
        fn getppid() -> pid_t;
        fn getpgid(id: pid_t) -> pid_t;
        fn getsid(id: pid_t) -> pid_t;
        fn setpgid(id: pid_t, group: pid_t) -> c_int;
        fn kill(id: pid_t, signal: c_int) -> c_int;
        fn killpg(group: pid_t, signal: c_int) -> c_int;
        fn sigqueue(id: pid_t, signal: c_int, value: usize) -> c_int;
        fn tgkill(group: pid_t, thread: pid_t, signal: c_int) -> c_int;
    }
}

/// `getppid`, in the process and in its children.
unsafe extern "C-unwind" fn parent_of_caller(_: usize) -> pid_t {
    // SAFETY: takes no arguments.
    shown_parent(unsafe { everywhere::getppid() })
}

unsafe extern "C-unwind" fn own_group(_: usize) -> pid_t {
    // SAFETY: a number.
    shown_group(unsafe { everywhere::getpgid(0) })
}

unsafe extern "C-unwind" fn get_group(id: pid_t, _: usize) -> pid_t {
    // SAFETY: a number.
    shown_group(unsafe { everywhere::getpgid(process(id)) })
}

unsafe extern "C-unwind" fn set_group(id: pid_t, group: pid_t, _: usize) -> c_int {
    // SAFETY: numbers.
    unsafe { everywhere::setpgid(process(id), group_of(group)) }
}

unsafe extern "C-unwind" fn get_session(id: pid_t, _: usize) -> pid_t {
    // SAFETY: a number.
    shown_session(unsafe { everywhere::getsid(process(id)) })
}

/// How the caller sees its parent.
fn shown_parent(real: pid_t) -> pid_t {
    if is_here() { PARENT } else { shown(real) }
}

/// Is this a signal to the process that started the program? That is the controller.
fn is_to_parent(id: pid_t, signal: c_int) -> bool {
    let it_is = is_here() && id.abs() == PARENT;
    if it_is && signal != 0 {
        gate::uncontrolled("a signal to the parent process (not sent)");
    }
    it_is
}

unsafe extern "C-unwind" fn kill_from(id: pid_t, signal: c_int, pc: usize) -> c_int {
    let active = gate::active();
    if active && let Some(errno) = signals::kill_process(id, signal, pc) {
        return time::errno_result(errno);
    }
    if is_to_parent(id, signal) {
        return 0;
    }
    // SAFETY: numbers only.
    unsafe { everywhere::kill(process(id), signal) }
}

unsafe extern "C-unwind" fn queue_from(id: pid_t, signal: c_int, value: usize, pc: usize) -> c_int {
    let active = gate::active();
    if active && let Some(errno) = signals::queue_to_process(id, signal, value, pc) {
        return time::errno_result(errno);
    }
    if is_to_parent(id, signal) {
        return 0;
    }
    // SAFETY: numbers only.
    unsafe { everywhere::sigqueue(process(id), signal, value) }
}

unsafe extern "C-unwind" fn kill_thread(
    group: pid_t,
    thread: pid_t,
    signal: c_int,
    pc: usize,
) -> c_int {
    if gate::active()
        && is_process(group)
        && let Some(errno) = signals::kill_by_id(thread, signal, pc)
    {
        return time::errno_result(errno);
    }
    if is_to_parent(group, signal) {
        return 0;
    }
    // SAFETY: numbers only.
    unsafe { everywhere::tgkill(process(group), process(thread), signal) }
}

unsafe extern "C-unwind" fn kill_group(group: pid_t, signal: c_int, _: usize) -> c_int {
    let group = if group == 0 { 0 } else { group_of(group) };
    // SAFETY: numbers only.
    unsafe { everywhere::killpg(group, signal) }
}

crate::export! {
    /// As in POSIX.
    fn getppid() -> pid_t = parent_of_caller;
    /// As in POSIX.
    fn getpgrp() -> pid_t = own_group;
    /// As in POSIX.
    fn getpgid(id: pid_t) -> pid_t = get_group;
    /// Another name of it.
    fn __getpgid(id: pid_t) -> pid_t = get_group;
    /// As in POSIX.
    fn setpgid(id: pid_t, group: pid_t) -> c_int = set_group;
    /// As in POSIX.
    fn getsid(id: pid_t) -> pid_t = get_session;
    /// As in POSIX; what comes back arrives at the next point.
    fn killpg(group: pid_t, signal: c_int) -> c_int = kill_group;
    /// As in POSIX.
    fn kill(id: pid_t, signal: c_int) -> c_int = kill_from;
    /// As in POSIX.
    fn sigqueue(id: pid_t, signal: c_int, value: usize) -> c_int = queue_from;
    /// As in Linux.
    fn tgkill(group: pid_t, thread: pid_t, signal: c_int) -> c_int = kill_thread;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_above_the_kernels_and_come_back() {
        const PID_MAX_LIMIT: pid_t = 4 << 20;
        const { assert!(SESSION > PID_MAX_LIMIT) };
        for thread in [0, 1, 77, slot::COUNT as Slot - 1] {
            assert_eq!(slot_of(of(thread)), Some(thread));
        }
        for other in [
            0,
            -1,
            1,
            PARENT,
            of(slot::COUNT as Slot - 1) + 1,
            NOBODY,
            pid_t::MIN,
        ] {
            assert_eq!(slot_of(other), None, "{other}");
        }
    }

    #[test]
    fn numbers_of_others_stay() {
        for id in [0, -1, 1, 77, -77, 4 << 20, pid_t::MIN, NOBODY] {
            assert_eq!(process(id), id);
            assert_eq!(shown(id), id);
        }
    }
}
