//! Waiting for several descriptors: poll, select, epoll.

use super::select;
use super::table;
use super::wait::{Condition, Operation, WOULD_BLOCK, Waiting, answer};
use crate::os::{self, syscall};
use crate::{gate, intercept, signals, time};
use core::ffi::c_int;
use libc::{POLLIN, epoll_event, fd_set, nfds_t, pollfd, sigset_t, timespec, timeval};
use raddle_protocol::descriptor::What;
use raddle_protocol::event::Kind;

/// How long a call may wait.
#[derive(Clone, Copy)]
pub enum Limit {
    /// Not at all.
    Never,
    /// So many virtual nanoseconds.
    For(u64),
    Forever,
}

impl Limit {
    /// As poll's third argument.
    pub fn of_milliseconds(ms: c_int) -> Limit {
        match u64::try_from(ms) {
            Ok(0) => Limit::Never,
            Ok(ms) => Limit::For(ms * 1_000_000),
            Err(_) => Limit::Forever,
        }
    }

    /// As ppoll's; `None`: invalid.
    ///
    /// # Safety
    /// Null or readable.
    pub unsafe fn of_timespec(limit: *const timespec) -> Option<Limit> {
        // SAFETY: the caller's promise.
        let Some(limit) = (unsafe { limit.as_ref() }) else {
            return Some(Limit::Forever);
        };
        match (limit.tv_sec, limit.tv_nsec) {
            (0, 0) => Some(Limit::Never),
            (0.., 0..1_000_000_000) => {
                let seconds = (limit.tv_sec as u64).saturating_mul(1_000_000_000);
                Some(Limit::For(seconds.saturating_add(limit.tv_nsec as u64)))
            }
            _ => None,
        }
    }

    fn deadline(self) -> u64 {
        match self {
            Limit::For(ns) => time::deadline_in(ns),
            Limit::Never | Limit::Forever => 0,
        }
    }
}

/// On what terms a call waits.
#[derive(Clone, Copy)]
pub struct Terms {
    pub limit: Limit,
    /// It has a signal mask of its own, which is in force.
    masked: bool,
}

impl From<Limit> for Terms {
    fn from(limit: Limit) -> Terms {
        Terms {
            limit,
            masked: false,
        }
    }
}

/// An operation on several descriptors.
fn operation(kind: Kind, fd: c_int, object: u64, limit: Limit, pc: usize) -> Operation {
    Operation {
        kind,
        fd,
        object,
        deadline: limit.deadline(),
        pc,
        cancellable: true,
    }
}

/// Waits on these terms until `attempt` finds something: its result, 0 when the time is up.
fn wait(
    operation: Operation,
    terms: Terms,
    mut waiting: Waiting,
    mut attempt: impl FnMut() -> isize,
) -> isize {
    if matches!(terms.limit, Limit::Never) {
        return operation.at_once(attempt);
    }
    waiting.masked = terms.masked;
    let result = operation.until_done(waiting, || match attempt() {
        0 => WOULD_BLOCK,
        n => n,
    });
    match result {
        WOULD_BLOCK => attempt().max(0),
        n => n,
    }
}

/// `poll`.
///
/// # Safety
/// `fds` points to `count` entries.
pub unsafe fn poll(fds: *mut pollfd, count: usize, terms: impl Into<Terms>, pc: usize) -> isize {
    let terms = terms.into();
    // SAFETY: the caller's promise, also below.
    let all = unsafe { entries(fds, count) };
    let mut known = all.iter().filter_map(|entry| table::find(entry.fd));
    let Some(first) = known.next() else {
        // SAFETY: as above.
        return unsafe { poll_harmless(fds, count, terms.limit, pc) };
    };
    let outside = first.is_outside() || known.any(|o| o.is_outside());
    let (fd, object) = match all {
        [one] => (one.fd, first.number),
        _ => (-1, 0),
    };
    let waiting = Waiting::new(Condition::Many { fds, count }, outside);
    let operation = operation(Kind::Poll, fd, object, terms.limit, pc);
    // SAFETY: as above.
    wait(operation, terms, waiting, || unsafe {
        syscall(libc::SYS_poll, fds as usize, count, 0, 0, 0, 0)
    })
}

unsafe fn entries<'a>(fds: *mut pollfd, count: usize) -> &'a [pollfd] {
    match fds.is_null() {
        true => &[],
        // SAFETY: the caller's promise.
        false => unsafe { core::slice::from_raw_parts(fds, count) },
    }
}

/// None of the descriptors ever blocks: what is ready is so at once, else this is a sleep.
unsafe fn poll_harmless(fds: *mut pollfd, count: usize, limit: Limit, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    let ready = unsafe { syscall(libc::SYS_poll, fds as usize, count, 0, 0, 0, 0) };
    match ready {
        0 => sleep(limit, pc),
        _ => ready,
    }
}

/// Sleeps within the limit: 0, or [`INTERRUPTED`].
fn sleep(limit: Limit, pc: usize) -> isize {
    let through =
        matches!(limit, Limit::Never) || time::sleep_until(limit.deadline(), pc).is_none();
    if through { 0 } else { INTERRUPTED }
}

/// `select`.
///
/// # Safety
/// The sets are null or hold `count` descriptors.
pub unsafe fn select(
    count: c_int,
    sets: [*mut fd_set; 3],
    terms: impl Into<Terms>,
    pc: usize,
) -> isize {
    let Terms { limit, masked } = terms.into();
    let asked = sets.map(|set| set.cast_const());
    let (mut any, mut outside) = (false, false);
    // SAFETY: the caller's promise, also below.
    let members = unsafe { select::members(count, asked) };
    for object in members.filter_map(table::find) {
        any = true;
        outside |= object.is_outside();
    }
    // SAFETY: as above.
    let now = || unsafe { select::now(count, sets) };
    if !any && !matches!(limit, Limit::Never) {
        // SAFETY: as above.
        let found = unsafe { select::any(count, asked) };
        return match found || sleep(limit, pc) == 0 {
            true => now(),
            false => INTERRUPTED,
        };
    }
    let condition = Condition::Sets { sets: asked, count };
    let operation = operation(Kind::Poll, -1, 0, limit, pc);
    let mut waiting = Waiting::new(condition, outside);
    waiting.masked = masked;
    if matches!(limit, Limit::Never) {
        return operation.at_once(now);
    }
    // The sets must keep what was asked for until the last attempt.
    // SAFETY: as above.
    let found = operation.until_done(waiting, || match unsafe { select::any(count, asked) } {
        true => 0,
        false => WOULD_BLOCK,
    });
    match found {
        0 | WOULD_BLOCK => now(),
        error => error,
    }
}

/// `epoll_wait`.
///
/// # Safety
/// `events` has room for `most`.
pub unsafe fn epoll_wait(
    fd: c_int,
    events: *mut epoll_event,
    most: c_int,
    terms: impl Into<Terms>,
    pc: usize,
) -> isize {
    let terms = terms.into();
    // SAFETY: the caller's promise.
    let call = || unsafe {
        syscall(
            libc::SYS_epoll_wait,
            fd as usize,
            events as usize,
            most as usize,
            0,
            0,
            0,
        )
    };
    let Some(object) = table::find(fd) else {
        return call();
    };
    let operation = operation(Kind::EpollWait, fd, object.number, terms.limit, pc);
    wait(
        operation,
        terms,
        Waiting::for_one(fd, POLLIN, &object),
        call,
    )
}

/// `epoll_ctl`.
///
/// # Safety
/// `event` is null or readable.
pub unsafe fn epoll_control(
    fd: c_int,
    command: c_int,
    member: c_int,
    event: *mut epoll_event,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise.
    let call = || unsafe {
        let (command, member) = (command as usize, member as usize);
        syscall(
            libc::SYS_epoll_ctl,
            fd as usize,
            command,
            member,
            event as usize,
            0,
            0,
        )
    };
    let Some(object) = table::find(fd) else {
        return call();
    };
    if table::find(member).is_some_and(|member| member.is_outside()) {
        table::set_outside(fd, true);
    }
    Operation::on(Kind::EpollControl, member, &object, pc).at_once(call)
}

/// `epoll_create1`.
pub fn epoll_create(flags: c_int, pc: usize) -> isize {
    // SAFETY: numbers only.
    let fd = unsafe { syscall(libc::SYS_epoll_create1, flags as usize, 0, 0, 0, 0, 0) };
    crate::io::descriptors::anonymous(What::Epoll, fd, false, pc)
}

const INVALID: isize = -(libc::EINVAL as isize);
const INTERRUPTED: isize = -(libc::EINTR as isize);

/// A call that waits with the signal mask `mask` if there is one: what a signal that only this mask
/// lets through does to it is that of the kernel, which looks for signals after all else.
/// `limit` as of [`Limit::of_timespec`].
///
/// # Safety
/// `mask` is null or readable.
unsafe fn masked(
    mask: *const sigset_t,
    limit: Option<Limit>,
    pc: usize,
    call: impl FnOnce(Terms) -> isize,
) -> isize {
    let Some(limit) = limit else { return INVALID };
    if mask.is_null() || matches!(limit, Limit::Never) {
        return call(limit.into());
    }
    let terms = Terms {
        limit,
        masked: true,
    };
    // SAFETY: the caller's promise.
    signals::with_mask(unsafe { signals::read_set(mask) }, pc, || call(terms))
}

/// [`masked`] for the calls that a pending signal interrupts even if they are not to wait.
unsafe fn masked_at_once(
    mask: *const sigset_t,
    limit: Option<Limit>,
    pc: usize,
    call: impl FnOnce(Terms) -> isize,
) -> isize {
    // SAFETY: the caller's promise.
    let result = unsafe { masked(mask, limit, pc, call) };
    let asked = !mask.is_null() && matches!(limit, Some(Limit::Never));
    // SAFETY: as above.
    if asked && result == 0 && signals::handled_with(unsafe { signals::read_set(mask) }, pc) {
        return INTERRUPTED;
    }
    result
}

/// `ppoll`.
///
/// # Safety
/// As [`poll`]; `limit` and `mask` are null or readable, so for all calls with a mask.
pub unsafe fn poll_masked(
    fds: *mut pollfd,
    count: usize,
    limit: *const timespec,
    mask: *const sigset_t,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        masked_at_once(mask, Limit::of_timespec(limit), pc, |terms| {
            poll(fds, count, terms, pc)
        })
    }
}

/// `pselect`.
///
/// # Safety
/// As [`select`] and [`poll_masked`].
pub unsafe fn select_masked(
    count: c_int,
    sets: [*mut fd_set; 3],
    limit: *const timespec,
    mask: *const sigset_t,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        masked_at_once(mask, Limit::of_timespec(limit), pc, |terms| {
            select(count, sets, terms, pc)
        })
    }
}

/// `epoll_pwait` and `epoll_pwait2`; `limit` as of [`Limit::of_timespec`].
///
/// # Safety
/// As [`epoll_wait`] and [`poll_masked`].
pub unsafe fn epoll_wait_masked(
    fd: c_int,
    (events, most): (*mut epoll_event, c_int),
    limit: Option<Limit>,
    mask: *const sigset_t,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        masked(mask, limit, pc, |terms| {
            epoll_wait(fd, events, most, terms, pc)
        })
    }
}

/// `select` with the limit that the C library's function has, in which it leaves the rest of the time.
///
/// # Safety
/// As [`select`]; `limit` is null or readable.
pub unsafe fn select_until(
    count: c_int,
    sets: [*mut fd_set; 3],
    limit: *mut timeval,
    pc: usize,
) -> isize {
    // SAFETY: the caller's promise.
    let Some(asked) = (unsafe { limit_of(limit) }) else {
        return INVALID;
    };
    let begins = gate::now();
    // SAFETY: as above.
    let result = unsafe { select(count, sets, asked, pc) };
    if let Limit::For(ns) = asked {
        let rest = match result {
            0 => 0,
            _ => begins.saturating_add(ns).saturating_sub(time::told()),
        };
        let rest = time::timeval_of(rest);
        // The kernel does not mind if it cannot be written. SAFETY: the program's, as plain bytes.
        unsafe {
            let bytes = (&raw const rest).cast::<[u8; size_of::<timeval>()]>();
            os::try_write(limit as usize, &*bytes);
        }
    }
    result
}

/// The limit of `select`; `None`: invalid.
unsafe fn limit_of(limit: *const timeval) -> Option<Limit> {
    // SAFETY: the program's argument.
    match unsafe { limit.as_ref() } {
        None => Some(Limit::Forever),
        Some(t) if t.tv_sec < 0 || t.tv_usec < 0 => None,
        Some(t) => Some(match time::microseconds(t) {
            0 => Limit::Never,
            ns => Limit::For(ns),
        }),
    }
}

intercept! {
    kernel;
    fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int,
        pc => answer(crate::io::multiplex::poll(fds, count as usize, Limit::of_milliseconds(timeout), pc)) as c_int;
    fn __poll_chk(fds: *mut pollfd, count: nfds_t, timeout: c_int, room: usize) -> c_int,
        pc => answer(crate::io::multiplex::poll(fds, count as usize, Limit::of_milliseconds(timeout), pc)) as c_int;
    fn ppoll(fds: *mut pollfd, count: nfds_t, limit: *const timespec, mask: *const sigset_t) -> c_int,
        pc => answer(poll_masked(fds, count as usize, limit, mask, pc)) as c_int;
    fn __ppoll_chk(fds: *mut pollfd, count: nfds_t, limit: *const timespec, mask: *const sigset_t, room: usize) -> c_int,
        pc => answer(poll_masked(fds, count as usize, limit, mask, pc)) as c_int;
    fn select(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, timeout: *mut timeval) -> c_int,
        pc => {
            let result = select_until(count, [read, write, except], timeout, pc);
            if !timeout.is_null() {
                // The C library, not the kernel, writes there.
                timeout.write_volatile(timeout.read_volatile());
            }
            answer(result) as c_int
        };
    fn epoll_create(size: c_int) -> c_int, pc => {
        if size <= 0 {
            return real::epoll_create(size);
        }
        answer(crate::io::multiplex::epoll_create(0, pc)) as c_int
    };
    fn epoll_create1(flags: c_int) -> c_int, pc => answer(crate::io::multiplex::epoll_create(flags, pc)) as c_int;
    fn epoll_ctl(fd: c_int, command: c_int, member: c_int, event: *mut epoll_event) -> c_int,
        pc => answer(epoll_control(fd, command, member, event, pc)) as c_int;
    fn epoll_wait(fd: c_int, events: *mut epoll_event, most: c_int, timeout: c_int) -> c_int,
        pc => answer(crate::io::multiplex::epoll_wait(fd, events, most, Limit::of_milliseconds(timeout), pc)) as c_int;
    fn epoll_pwait(fd: c_int, events: *mut epoll_event, most: c_int, timeout: c_int, mask: *const sigset_t) -> c_int,
        pc => answer(epoll_wait_masked(fd, (events, most), Some(Limit::of_milliseconds(timeout)), mask, pc)) as c_int;
    fn epoll_pwait2(fd: c_int, events: *mut epoll_event, most: c_int, limit: *const timespec, mask: *const sigset_t) -> c_int,
        pc => answer(epoll_wait_masked(fd, (events, most), Limit::of_timespec(limit), mask, pc)) as c_int;
}

crate::intercept6! {
    fn pselect(count: c_int, read: *mut fd_set, write: *mut fd_set, except: *mut fd_set, limit: *const timespec, mask: *const sigset_t)
        -> c_int, pc => answer(select_masked(count, [read, write, except], limit, mask, pc)) as c_int;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_as_posix_says() {
        let of = |tv_sec, tv_nsec| {
            let t = timespec { tv_sec, tv_nsec };
            // SAFETY: readable.
            match unsafe { Limit::of_timespec(&t) } {
                None => -1,
                Some(Limit::Never) => 0,
                Some(Limit::For(ns)) => ns as i64,
                Some(Limit::Forever) => i64::MAX,
            }
        };
        for (seconds, nanoseconds, expected) in [
            (0, 0, 0),
            (0, 7, 7),
            (2, 1, 2_000_000_001),
            (-1, 0, -1),
            (0, -1, -1),
            (0, 1_000_000_000, -1),
        ] {
            assert_eq!(
                of(seconds, nanoseconds),
                expected,
                "{seconds} {nanoseconds}"
            );
        }
        for (ms, ns) in [(0, 0), (5, 5_000_000)] {
            let limit = match Limit::of_milliseconds(ms) {
                Limit::For(ns) => ns,
                _ => 0,
            };
            assert_eq!(limit, ns);
        }
        assert!(matches!(Limit::of_milliseconds(-1), Limit::Forever));
    }
}
