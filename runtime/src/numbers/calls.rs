//! System calls that take, or return, numbers of processes and threads.

use super::paths::{shown_link, shows_inode};
use super::{
    is_alive, is_to_parent, kernel_thread, own, process, shown, shown_group, shown_parent,
    shown_session, slot_of,
};
use crate::gate;
use crate::gone::is_missing;
use crate::{intercept, os, substrate, threads, time};
use core::ffi::{c_char, c_int, c_long, c_uint, c_void};
use libc::*;
use raddle_protocol::slot;

/// What an argument, or a result, stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    /// A thread; 0 is the caller.
    Thread,
    /// A process, or a thread of it; 0 is the caller's, or means something of its own.
    Process,
    /// What the argument before says: of `getpriority` and its kin.
    ByPriority,
    /// The same of `ioprio_get` and its kin.
    ByIoPriority,
}

/// Which arguments of a call are numbers.
#[allow(non_upper_case_globals)] // the numbers' names are libc's
fn arguments(number: c_long) -> &'static [(usize, Number)] {
    use Number::*;
    match number {
        SYS_sched_getparam
        | SYS_sched_setparam
        | SYS_sched_getscheduler
        | SYS_sched_setscheduler
        | SYS_sched_rr_get_interval
        | SYS_sched_getaffinity
        | SYS_sched_setaffinity
        | SYS_sched_getattr
        | SYS_sched_setattr
        | SYS_migrate_pages
        | SYS_move_pages => &[(0, Thread)],
        SYS_prlimit64
        | SYS_getpgid
        | SYS_getsid
        | SYS_pidfd_open
        | SYS_process_vm_readv
        | SYS_process_vm_writev
        | SYS_rt_sigqueueinfo
        | SYS_kill
        | SYS_tkill => &[(0, Process)],
        SYS_kcmp | SYS_setpgid | SYS_tgkill | SYS_rt_tgsigqueueinfo => {
            &[(0, Process), (1, Process)]
        }
        SYS_perf_event_open | SYS_ptrace => &[(1, Process)],
        SYS_getpriority | SYS_setpriority => &[(1, ByPriority)],
        SYS_ioprio_get | SYS_ioprio_set => &[(1, ByIoPriority)],
        _ => &[],
    }
}

/// The number that the kernel knows; `before`: the argument before it.
fn known_to_kernel(kind: Number, id: pid_t, before: usize) -> pid_t {
    const IOPRIO_WHO_PROCESS: usize = 1;
    const IOPRIO_WHO_PGRP: usize = 2;
    match (kind, before) {
        (Number::Thread, _)
        | (Number::ByPriority, 0)
        | (Number::ByIoPriority, IOPRIO_WHO_PROCESS) => kernel_thread(id),
        (Number::Process, _) => process(id),
        (Number::ByPriority, 1) | (Number::ByIoPriority, IOPRIO_WHO_PGRP) => match id {
            0 => 0,
            _ => -process(-id),
        },
        _ => id,
    }
}

/// The arguments as the kernel is to get them.
pub fn to_kernel(number: c_long, mut args: [usize; 6]) -> [usize; 6] {
    for &(at, kind) in arguments(number) {
        let before = if at == 0 { 0 } else { args[at - 1] };
        args[at] = known_to_kernel(kind, args[at] as pid_t, before) as isize as usize;
    }
    args
}

/// The result as the program is to get it.
#[allow(non_upper_case_globals)]
fn from_kernel(number: c_long, result: isize) -> isize {
    let id = result as pid_t;
    match number {
        _ if result < 0 => result,
        SYS_getpgid | SYS_getpgrp => shown_group(id) as isize,
        SYS_getsid => shown_session(id) as isize,
        SYS_setsid => shown(id) as isize,
        SYS_getppid => shown_parent(id) as isize,
        SYS_set_tid_address => own() as isize,
        _ => result,
    }
}

/// One system call with these arguments of the program's: its result, or a negative errno.
///
/// # Safety
/// As the call's manual page says.
pub unsafe fn perform(number: c_long, args: [usize; 6]) -> isize {
    if number == SYS_get_robust_list
        // SAFETY: the caller's promise.
        && let Some(result) = unsafe { robust_list(args) }
    {
        return result;
    }
    if [SYS_capget, SYS_capset].contains(&number) {
        // SAFETY: the caller's promise.
        return unsafe { capabilities(number, args) };
    }
    if let Some(signal) = signal_at(number)
        && is_to_parent(args[0] as pid_t, args[signal] as c_int)
    {
        return 0;
    }
    let [a, b, c, d, e, f] = to_kernel(number, args);
    // SAFETY: the caller's promise.
    let result = unsafe { os::syscall(number, a, b, c, d, e, f) };
    let (path, link, room) = match number {
        n if n == SYS_readlink => (a, b, c),
        n if n == SYS_readlinkat => (b, c, d),
        _ => return from_kernel(number, result),
    };
    // SAFETY: the kernel has written so much there, or failed; it has read the path if it did not.
    unsafe {
        shows_inode(link as *const c_char, result);
        shown_link(path as *const c_char, link as *mut c_char, room, result)
    }
}

/// Which argument of a call that sends a signal, to whom the first one says, is the signal.
#[allow(non_upper_case_globals)]
fn signal_at(number: c_long) -> Option<usize> {
    match number {
        SYS_kill | SYS_tkill | SYS_rt_sigqueueinfo => Some(1),
        SYS_tgkill | SYS_rt_tgsigqueueinfo => Some(2),
        _ => None,
    }
}

/// `get_robust_list`: the list is the C library's, in the thread's descriptor; `None`: of no thread
/// of this process.
///
/// # Safety
/// As the call's manual page says.
unsafe fn robust_list([id, head, len, ..]: [usize; 6]) -> Option<isize> {
    let id = id as pid_t;
    let thread = if id == 0 { gate::me() } else { slot_of(id)? };
    if !is_alive(thread) {
        return Some(-(ESRCH as isize));
    }
    let (offset, size) = substrate::robust_list()?;
    let at = crate::threads::descriptor(thread) as usize + offset;
    if head == 0 || len == 0 {
        return Some(-(EFAULT as isize));
    }
    // SAFETY: the caller's promise.
    unsafe {
        (head as *mut usize).write(at);
        (len as *mut usize).write(size);
    }
    Some(0)
}

/// `capget` and `capset`, which are told of a thread by a header in memory.
///
/// # Safety
/// As the call's manual page says.
unsafe fn capabilities(number: c_long, [header, data, ..]: [usize; 6]) -> isize {
    /// The version, and the number of the thread.
    type Header = (u32, pid_t);
    let at = header as *mut Header;
    if is_missing(at.cast_const()) {
        // SAFETY: the kernel finds out.
        return unsafe { os::syscall(number, header, data, 0, 0, 0, 0) };
    }
    // SAFETY: the header is there.
    let (version, id) = unsafe { *at };
    // The caller's own are those of whatever runs it.
    let known = if id == own() { 0 } else { kernel_thread(id) };
    let mut given: Header = (version, if id == 0 { 0 } else { known });
    // SAFETY: the caller's promise; a header of ours. The kernel says there which version it knows.
    unsafe {
        let result = os::syscall(number, &raw mut given as usize, data, 0, 0, 0, 0);
        (*at).0 = given.0;
        result
    }
}

/// [`perform`], as the C library returns it.
unsafe fn call(number: c_long, args: [usize; 5]) -> c_int {
    let [a, b, c, d, e] = args;
    // SAFETY: the caller's promise.
    match unsafe { perform(number, [a, b, c, d, e, 0]) } {
        result @ 0.. => result as c_int,
        errno => time::errno_result(-errno as c_int),
    }
}

/// The running thread looks at how the thread with this number (0: itself) is scheduled, or changes it.
fn about(id: pid_t, changes: bool) {
    let thread = match id {
        0 => Some(gate::me()),
        id => slot_of(id),
    };
    if let Some(thread) = thread {
        threads::ask_about(thread, changes);
    }
}

/// Names what the program limits, if that is memory: raddle's heap, which is the program's, is there from
/// the start.
///
/// # Safety
/// `new` is null or what `setrlimit` takes.
unsafe fn limits_memory(resource: c_uint, new: *const c_void) {
    // SAFETY: the caller's promise.
    let sets = !is_missing(new.cast::<rlimit>())
        && unsafe { (*new.cast::<rlimit>()).rlim_cur } != RLIM_INFINITY;
    if sets && gate::active() && [RLIMIT_AS, RLIMIT_DATA].contains(&resource) {
        gate::uncontrolled("limits of memory (RLIMIT_AS, RLIMIT_DATA), which malloc does not keep");
    }
}

intercept! {
    kernel;
    fn sched_getparam(id: pid_t, into: *mut c_void) -> c_int, _pc => {
        about(id, false);
        call(SYS_sched_getparam, [id as usize, into as usize, 0, 0, 0])
    };
    fn sched_setparam(id: pid_t, to: *const c_void) -> c_int, _pc => {
        about(id, true);
        call(SYS_sched_setparam, [id as usize, to as usize, 0, 0, 0])
    };
    fn sched_getscheduler(id: pid_t) -> c_int, _pc => {
        about(id, false);
        call(SYS_sched_getscheduler, [id as usize, 0, 0, 0, 0])
    };
    fn sched_setscheduler(id: pid_t, policy: c_int, to: *const c_void) -> c_int, _pc => {
        about(id, true);
        call(SYS_sched_setscheduler, [id as usize, policy as usize, to as usize, 0, 0])
    };
    fn sched_rr_get_interval(id: pid_t, into: *mut c_void) -> c_int,
        _pc => call(SYS_sched_rr_get_interval, [id as usize, into as usize, 0, 0, 0]);
    fn sched_getaffinity(id: pid_t, size: usize, set: *mut c_void) -> c_int, _pc => {
        about(id, false);
        real::sched_getaffinity(kernel_thread(id), size, set)
    };
    fn sched_setaffinity(id: pid_t, size: usize, set: *const c_void) -> c_int, _pc => {
        about(id, true);
        real::sched_setaffinity(kernel_thread(id), size, set)
    };
    fn getpriority(which: c_uint, id: pid_t) -> c_int, _pc => {
        about(id, false);
        let id = known_to_kernel(Number::ByPriority, id, which as usize);
        real::getpriority(which, id)
    };
    fn setpriority(which: c_uint, id: pid_t, to: c_int) -> c_int, _pc => {
        about(id, true);
        let id = known_to_kernel(Number::ByPriority, id, which as usize);
        real::setpriority(which, id, to)
    };
    /// Of the calling thread alone, as in Linux.
    fn nice(by: c_int) -> c_int, _pc => {
        about(0, true);
        let own = kernel_thread(0);
        let to = (real::getpriority(PRIO_PROCESS, own) + by).clamp(-20, 19);
        match real::setpriority(PRIO_PROCESS, own, to) {
            0 => to,
            // As the C library has it.
            _ if *__errno_location() == EACCES => time::errno_result(EPERM),
            failed => failed,
        }
    };
    fn prlimit(id: pid_t, resource: c_uint, new: *const c_void, old: *mut c_void) -> c_int, _pc => {
        limits_memory(resource, new);
        real::prlimit(process(id), resource, new, old)
    };
    fn prlimit64(id: pid_t, resource: c_uint, new: *const c_void, old: *mut c_void) -> c_int, _pc => {
        limits_memory(resource, new);
        real::prlimit64(process(id), resource, new, old)
    };
    fn setrlimit(resource: c_uint, new: *const c_void) -> c_int, _pc => {
        limits_memory(resource, new);
        real::setrlimit(resource, new)
    };
    fn setrlimit64(resource: c_uint, new: *const c_void) -> c_int, _pc => {
        limits_memory(resource, new);
        real::setrlimit64(resource, new)
    };
    fn pidfd_open(id: pid_t, flags: c_uint) -> c_int,
        _pc => call(SYS_pidfd_open, [id as usize, flags as usize, 0, 0, 0]);
    /// Clocks of processor time are virtual, and count for whoever asks: they are named by the
    /// number that the program knows.
    fn clock_getcpuclockid(id: pid_t, into: *mut clockid_t) -> c_int, _pc => match slot_of(id) {
        // As in Linux, it is a process that has this clock.
        Some(slot) if slot != slot::MAIN => ESRCH,
        Some(_) => {
            into.write(clock_of(id, false));
            0
        }
        None => real::clock_getcpuclockid(process(id), into),
    };
}

/// The clock of a thread's processor time, or of that of its process.
pub fn clock_of(id: pid_t, thread: bool) -> clockid_t {
    const SCHEDULED: clockid_t = 2;
    const OF_THREAD: clockid_t = 4;
    !id << 3 | SCHEDULED | if thread { OF_THREAD } else { 0 }
}

/// Does this clock belong to a thread or process that is not there?
pub fn is_clock_of_nobody(clock: clockid_t) -> bool {
    let of_kernel = |clock: clockid_t| {
        // SAFETY: the clock is asked about, and nothing is written.
        let known = unsafe { os::syscall(SYS_clock_getres, clock as usize, 0, 0, 0, 0, 0) };
        known < 0
    };
    let id = !(clock >> 3);
    clock < 0
        && id != 0
        && match slot_of(id) {
            Some(slot) => !is_alive(slot),
            None => of_kernel(clock),
        }
}

#[cfg(test)]
mod tests {
    use super::super::PROCESS;
    use super::*;

    #[test]
    fn clocks_are_those_of_the_kernels_numbering() {
        // MAKE_PROCESS_CPUCLOCK and MAKE_THREAD_CPUCLOCK of the kernel.
        for (id, thread, clock) in [(0, false, -6), (0, true, -2), (1, false, -14)] {
            assert_eq!(clock_of(id, thread), clock);
        }
        assert!(clock_of(PROCESS + 4095, true) < 0);
        assert_eq!(!(clock_of(PROCESS + 3, true) >> 3), PROCESS + 3);
    }

    #[test]
    fn other_calls_keep_their_arguments() {
        let args = [PROCESS as usize, 2, 3, 4, 5, 6];
        for number in [SYS_read, SYS_write, SYS_mmap, SYS_dup3] {
            assert_eq!(to_kernel(number, args), args);
        }
    }
}
