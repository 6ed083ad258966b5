//! Descriptors come into being, are duplicated, are closed.

use super::requests::linux::{F_GETOWN_EX, F_SETOWN_EX};
use super::table;
use super::wait::{Condition, Operation, answer};
use super::{locks, messages, random, raw, requests, streams, wait};
use crate::os::syscall;
use crate::{gate, intercept, numbers, states};
use core::ffi::{c_int, c_uint};
use raddle_protocol::Slot;
use raddle_protocol::descriptor::What;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::shared::flags as job_flags;

/// Copies of descriptors that were closed while a thread waited on them have numbers from here on.
const HIDDEN: usize = 900;

/// `pipe2`.
///
/// # Safety
/// `into` has room for two.
pub unsafe fn pipe(into: *mut c_int, flags: c_int, pc: usize) -> isize {
    // SAFETY: the caller's promise.
    unsafe {
        let result = syscall(libc::SYS_pipe2, into as usize, flags as usize, 0, 0, 0, 0);
        if result == 0 {
            table::made(What::Pipe, *into, *into.add(1), false, pc);
        }
        result
    }
}

/// Notes a new descriptor of an anonymous object.
pub fn anonymous(what: What, fd: isize, outside: bool, pc: usize) -> isize {
    if fd >= 0 {
        table::made(what, fd as c_int, -1, outside, pc);
    }
    fd
}

/// A counter of the runtime's own: a descriptor, or minus an errno.
pub fn counter(flags: c_int, pc: usize) -> c_int {
    event(0, flags, pc) as c_int
}

/// `eventfd2`.
pub fn event(count: c_uint, flags: c_int, pc: usize) -> isize {
    // SAFETY: numbers only.
    let fd = unsafe {
        syscall(
            libc::SYS_eventfd2,
            count as usize,
            flags as usize,
            0,
            0,
            0,
            0,
        )
    };
    let result = anonymous(What::Event, fd, false, pc);
    let plain = flags & !libc::EFD_CLOEXEC == 0;
    if let Some(object) = table::find(fd as c_int).filter(|_| fd >= 0 && plain)
        && gate::flags() & job_flags::SYMBOLIC != 0
    {
        gate::log_full(Event {
            kind: Kind::Init as u8,
            object: object.number,
            value: count.into(),
            pc: pc as u64,
            ..Event::default()
        });
    }
    result
}

/// `close`. Whoever waits on the descriptor may have begun to before: then the wait goes on.
pub fn close(fd: c_int, pc: usize) -> isize {
    states::closed(fd);
    // SAFETY: the program gives up the descriptor.
    let call = || unsafe { syscall(libc::SYS_close, fd as usize, 0, 0, 0, 0, 0) };
    let Some(object) = table::find(fd) else {
        return table::checked(fd, pc, locks::close(fd, pc, call));
    };
    let operation = Operation {
        cancellable: false,
        ..Operation::on(Kind::Close, fd, &object, pc)
    };
    gate::simple(operation.kind, operation.object, pc);
    let begun = let_go_on(fd);
    let result = call();
    table::closed(fd);
    messages::closed(&object);
    operation.conclude(result);
    for (picked, of) in begun {
        if of != 0 {
            gate::log_choice(picked, of);
        }
    }
    result
}

/// Most threads for which the choice is made; later ones are taken not to have begun.
const WAITERS: usize = 8;

/// For every thread that waits on `fd` in vain: had its call begun before the close? Then it goes
/// on waiting for the same object; else it will find that the descriptor is not open.
fn let_go_on(fd: c_int) -> [(usize, usize); WAITERS] {
    let mut choices = [(0, 0); WAITERS];
    let waits: [Option<Slot>; WAITERS] = {
        let mut slots = gate::alive_threads().filter(|&s| waits_on(s, fd));
        core::array::from_fn(|_| slots.next())
    };
    for (slot, choice) in waits.into_iter().zip(&mut choices) {
        let Some(slot) = slot else { break };
        let picked = gate::choose(2);
        *choice = (picked, 2);
        if picked == 1 {
            let copy = raw::fcntl(fd, libc::F_DUPFD_CLOEXEC, HIDDEN) as c_int;
            table::duplicated(fd, copy);
            // SAFETY: the thread waits, so its operation lives.
            let waiting = gate::announced(slot).and_then(|p| unsafe { wait::of(&p) });
            if let Some(waiting) = waiting
                && copy >= 0
            {
                waiting.moved(copy);
            }
        }
    }
    choices
}

/// Does `slot` wait on `fd`, and in vain as yet?
fn waits_on(slot: Slot, fd: c_int) -> bool {
    let Some(p) = gate::announced(slot).filter(|p| p.kind.is_descriptor()) else {
        return false;
    };
    // SAFETY: the thread waits, so its operation lives.
    let Some(waiting) = (unsafe { wait::of(&p) }) else {
        return false;
    };
    match waiting.condition {
        Condition::One(one) if one.fd == fd => !raw::is_ready(fd, one.events),
        _ => false,
    }
}

/// A duplicate was made: `fd` → `copy`.
fn note_copy(fd: c_int, copy: isize) -> isize {
    if copy >= 0 {
        table::duplicated(fd, copy as c_int);
        states::duplicated(fd, copy as c_int);
    }
    copy
}

/// `dup`.
pub fn dup(fd: c_int) -> isize {
    // SAFETY: numbers only.
    note_copy(fd, unsafe {
        syscall(libc::SYS_dup, fd as usize, 0, 0, 0, 0, 0)
    })
}

/// `dup3`: what `copy` stood for before is closed.
pub fn dup_onto(fd: c_int, copy: c_int, flags: c_int, pc: usize) -> isize {
    // SAFETY: numbers only.
    let call = || unsafe {
        syscall(
            libc::SYS_dup3,
            fd as usize,
            copy as usize,
            flags as usize,
            0,
            0,
            0,
        )
    };
    match table::find(copy) {
        Some(object) if fd != copy => {
            let operation = Operation::on(Kind::Close, copy, &object, pc);
            note_copy(fd, operation.at_once(call))
        }
        _ => {
            if copy <= libc::STDERR_FILENO && random::is_random(fd) {
                streams::control_streams();
            }
            note_copy(fd, call())
        }
    }
}

/// `fcntl` with whatever argument.
///
/// # Safety
/// As `fcntl`.
pub unsafe fn control(fd: c_int, command: c_int, argument: usize, pc: usize) -> isize {
    match command {
        libc::F_DUPFD | libc::F_DUPFD_CLOEXEC => note_copy(fd, raw::fcntl(fd, command, argument)),
        // SAFETY: passed on.
        libc::F_OFD_SETLK | libc::F_OFD_SETLKW | libc::F_SETLKW => unsafe {
            locks::record_lock(fd, command, argument as *mut libc::flock, pc)
        },
        // SAFETY: passed on.
        libc::F_GETLK => unsafe {
            let result = raw::fcntl(fd, command, argument);
            if let (0, Some(lock)) = (result, (argument as *mut libc::flock).as_mut()) {
                lock.l_pid = numbers::shown(lock.l_pid);
            }
            result
        },
        libc::F_GETOWN => numbers::shown_owner(raw::fcntl(fd, command, argument)),
        libc::F_SETOWN => raw::fcntl(fd, command, numbers::process(argument as c_int) as usize),
        // SAFETY: passed on.
        F_SETOWN_EX | F_GETOWN_EX => unsafe { owner(fd, command, argument as *mut Owner) },
        // SAFETY: passed on.
        _ => unsafe {
            syscall(
                libc::SYS_fcntl,
                fd as usize,
                command as usize,
                argument,
                0,
                0,
                0,
            )
        },
    }
}

/// `struct f_owner_ex`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Owner {
    kind: c_int,
    id: libc::pid_t,
}

/// Says, or asks, who gets the signals of a descriptor.
///
/// # Safety
/// As `fcntl`.
unsafe fn owner(fd: c_int, command: c_int, at: *mut Owner) -> isize {
    const GROUP: c_int = 2;
    // SAFETY: the caller's promise; an owner of ours in its stead.
    unsafe {
        let Some(given) = at.as_mut() else {
            return -(libc::EFAULT as isize);
        };
        let mut known = *given;
        if command == F_SETOWN_EX {
            known.id = match known.kind {
                GROUP => -numbers::process(-known.id),
                _ => numbers::process(known.id),
            };
        }
        let result = raw::fcntl(fd, command, &raw mut known as usize);
        if command == F_GETOWN_EX && result == 0 {
            let shown = numbers::shown_owner(known.id as isize) as libc::pid_t;
            *given = Owner { id: shown, ..known };
        }
        result
    }
}

/// `ioctl` with whatever argument. What it says of a pipe or a socket may depend on what others do there.
///
/// # Safety
/// As `ioctl`.
pub unsafe fn ask(fd: c_int, request: usize, argument: usize, pc: usize) -> isize {
    // SAFETY: passed on.
    let perform =
        |at: usize| unsafe { syscall(libc::SYS_ioctl, fd as usize, request, at, 0, 0, 0) };
    // SAFETY: the caller's promise.
    let call = || unsafe { numbers::by_request(request as u64, argument, perform) };
    match table::find(fd) {
        // A loop that asks in each round would have a step in each.
        Some(object) if gate::flags() & job_flags::SYMBOLIC != 0 => {
            Operation::on(Kind::Poll, fd, &object, pc).at_once(call)
        }
        _ => call(),
    }
}

/// `lockf`: a lock of the bytes from the descriptor's position on.
///
/// # Safety
/// As `fcntl`.
unsafe fn lock_from_here(fd: c_int, command: c_int, len: i64, pc: usize) -> isize {
    let (request, kind) = match command {
        libc::F_LOCK => (libc::F_SETLKW, libc::F_WRLCK),
        libc::F_TLOCK => (libc::F_SETLK, libc::F_WRLCK),
        libc::F_ULOCK => (libc::F_SETLK, libc::F_UNLCK),
        libc::F_TEST => (libc::F_GETLK, libc::F_RDLCK),
        _ => return -(libc::EINVAL as isize),
    };
    // SAFETY: numbers, which any bits are.
    let mut lock: libc::flock = unsafe { core::mem::zeroed() };
    lock.l_type = kind as libc::c_short;
    lock.l_whence = libc::SEEK_CUR as libc::c_short;
    lock.l_len = len;
    // SAFETY: the lock outlives the call.
    let result = unsafe { control(fd, request, &raw mut lock as usize, pc) };
    let free =
        lock.l_type == libc::F_UNLCK as libc::c_short || lock.l_pid == crate::numbers::PROCESS;
    match (command, result) {
        (libc::F_TEST, 0) if !free => -(libc::EACCES as isize),
        _ => result,
    }
}

/// `close_range`, as far as it closes.
fn close_range(first: c_uint, last: c_uint, flags: c_int) -> isize {
    let (first, last) = (first as usize, last as usize);
    // SAFETY: the program gives up the descriptors.
    let result = unsafe { syscall(libc::SYS_close_range, first, last, flags as usize, 0, 0, 0) };
    if result == 0 && flags == 0 {
        for fd in first..=last.min(1 << 16) {
            table::closed(fd as c_int);
            states::closed(fd as c_int);
        }
        table::change();
        gate::touch_descriptors();
    }
    result
}

intercept! {
    kernel;
    fn pipe(into: *mut c_int) -> c_int, pc => answer(crate::io::descriptors::pipe(into, 0, pc)) as c_int;
    fn pipe2(into: *mut c_int, flags: c_int) -> c_int,
        pc => answer(crate::io::descriptors::pipe(into, flags, pc)) as c_int;
    fn eventfd(count: c_uint, flags: c_int) -> c_int, pc => answer(event(count, flags, pc)) as c_int;
    fn inotify_init() -> c_int, pc => {
        real::inotify_init1(0)
    };
    fn inotify_init1(flags: c_int) -> c_int,
        pc => anonymous(What::Other, real::inotify_init1(flags) as isize, true, pc) as c_int;
    fn close(fd: c_int) -> c_int, pc => answer(crate::io::descriptors::close(fd, pc)) as c_int;
    fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int,
        pc => answer(crate::io::descriptors::close_range(first, last, flags)) as c_int;
    fn closefrom(first: c_int) -> (), pc => {
        crate::io::descriptors::close_range(first.max(0) as c_uint, c_uint::MAX, 0);
    };
    fn dup(fd: c_int) -> c_int, pc => answer(crate::io::descriptors::dup(fd)) as c_int;
    fn dup2(fd: c_int, copy: c_int) -> c_int, pc => {
        if fd == copy {
            return real::dup2(fd, copy);
        }
        answer(dup_onto(fd, copy, 0, pc)) as c_int
    };
    fn dup3(fd: c_int, copy: c_int, flags: c_int) -> c_int,
        pc => answer(dup_onto(fd, copy, flags, pc)) as c_int;
    fn fcntl(fd: c_int, command: c_int, argument: usize) -> c_int,
        pc => answer(requests::fcntl(fd, command, argument, pc)) as c_int;
    fn fcntl64(fd: c_int, command: c_int, argument: usize) -> c_int,
        pc => answer(requests::fcntl(fd, command, argument, pc)) as c_int;
    fn ioctl(fd: c_int, request: usize, argument: usize) -> c_int,
        pc => answer(requests::ioctl(fd, request, argument, pc)) as c_int;
    fn flock(fd: c_int, operation: c_int) -> c_int, pc => answer(locks::whole(fd, operation, pc)) as c_int;
    fn lockf(fd: c_int, command: c_int, len: i64) -> c_int,
        pc => answer(lock_from_here(fd, command, len, pc)) as c_int;
    fn lockf64(fd: c_int, command: c_int, len: i64) -> c_int,
        pc => answer(lock_from_here(fd, command, len, pc)) as c_int;
    fn mkfifo(path: *const libc::c_char, mode: libc::mode_t) -> c_int,
        pc => answer(crate::io::places::make_fifo(path, mode)) as c_int;
}
