//! The C library's `syscall`: futex waits of Rust's std, of static guards, of `std::atomic::wait`;
//! and the calls that must agree with the intercepted functions of the same purpose.

mod followed;
mod inherit;
mod many;
mod unmodelled;

pub use followed::follows;

use crate::gate::{self, Fatal, Interrupt, Pending, Wake};
use crate::gone::{self, Known, Memory};
use crate::sync::model::queue::{Queue, Stage};
use crate::sync::models::Models;
use crate::sync::{WAITERS, always, check_alive, pending};
use crate::time::{self, Clock};
use crate::{entropy, machine, maps, numbers, os, process, signals, threads};
use core::ffi::{c_int, c_long};
use libc::{
    CLOCK_REALTIME, EAGAIN, EINTR, EINVAL, ENOSYS, ETIMEDOUT, SYS_clock_gettime,
    SYS_clock_nanosleep, SYS_clone, SYS_clone3, SYS_exit, SYS_exit_group, SYS_fork, SYS_futex,
    SYS_futex_waitv, SYS_getcpu, SYS_getpid, SYS_getrandom, SYS_getrusage, SYS_gettid,
    SYS_gettimeofday, SYS_kill, SYS_nanosleep, SYS_sched_yield, SYS_sysinfo, SYS_tgkill, SYS_time,
    SYS_times, SYS_tkill, SYS_vfork, SYS_wait4, SYS_waitid, pid_t, timespec,
};
use raddle_protocol::Slot;
use raddle_protocol::effects::{self, Direct, Effect, Extent, direct};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::outcome::End;
use raddle_protocol::update::Operands;

/// Who waits at each address at which anybody has waited.
static MODELS: Models<Queue> = Models::new();

fn queue(object: u64) -> &'static mut Queue {
    MODELS.entry(object, || Queue::EMPTY)
}

/// Forgets the addresses in `from..to`. Whoever still waits there waits for ever.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

/// What a futex operation asks for: the low bits of its second argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    Wait,
    Wake,
    Requeue { compare: bool },
    WakeOp,
    Lock,
    TryLock,
    Unlock,
    Unknown,
}

/// A decoded futex operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Operation {
    request: Request,
    /// Has it bits of its own in the last argument?
    bitset: bool,
    /// Is the time-out a moment (not a duration)?
    absolute: bool,
    clock: Clock,
}

impl Operation {
    fn of(op: c_int) -> Operation {
        const PRIVATE: c_int = libc::FUTEX_PRIVATE_FLAG;
        const WALL: c_int = libc::FUTEX_CLOCK_REALTIME;
        /// FUTEX_LOCK_PI by a clock that the caller names.
        const LOCK_PI2: c_int = 13;
        let command = op & !(PRIVATE | WALL);
        let bitset = matches!(command, libc::FUTEX_WAIT_BITSET | libc::FUTEX_WAKE_BITSET);
        Operation {
            request: match command {
                libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => Request::Wait,
                libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => Request::Wake,
                libc::FUTEX_REQUEUE => Request::Requeue { compare: false },
                libc::FUTEX_CMP_REQUEUE => Request::Requeue { compare: true },
                libc::FUTEX_WAKE_OP => Request::WakeOp,
                libc::FUTEX_LOCK_PI | LOCK_PI2 => Request::Lock,
                libc::FUTEX_TRYLOCK_PI => Request::TryLock,
                libc::FUTEX_UNLOCK_PI => Request::Unlock,
                _ => Request::Unknown,
            },
            bitset,
            absolute: bitset || matches!(command, libc::FUTEX_LOCK_PI | LOCK_PI2),
            clock: if op & WALL != 0 || command == libc::FUTEX_LOCK_PI {
                Clock::Wall
            } else {
                Clock::Monotonic
            },
        }
    }
}

/// FUTEX_WAKE_OP's last argument applied to a word: its new value, and whether waiters at its own
/// address wake too.
fn wake_op(old: u32, what: u32) -> Option<(u32, bool)> {
    let signed = |x: u32| ((x << 20) as i32 >> 20) as u32;
    let (operand, comparand) = (signed(what >> 12 & 0xfff), signed(what & 0xfff));
    let operand = if what >> 31 != 0 {
        1u32.wrapping_shl(operand)
    } else {
        operand
    };
    let new = match what >> 28 & 7 {
        0 => operand,
        1 => old.wrapping_add(operand),
        2 => old | operand,
        3 => old & !operand,
        4 => old ^ operand,
        _ => return None,
    };
    let (left, right) = (old as i32, comparand as i32);
    let also = match what >> 24 & 15 {
        0 => left == right,
        1 => left != right,
        2 => left < right,
        3 => left <= right,
        4 => left > right,
        5 => left >= right,
        _ => return None,
    };
    Some((new, also))
}

/// Waits while the word at `address` is `expected`: 0 or a negative errno.
unsafe fn wait(address: *const u32, expected: u32, bits: u32, deadline: u64, pc: usize) -> c_int {
    if crate::vars::symbolic() && bits == u32::MAX {
        // SAFETY: by the caller's promise.
        let result = unsafe { followed::wait(address, expected, deadline, pc) };
        if let Some(result) = result {
            return result;
        }
    }
    let object = address as u64;
    gate::simple(Kind::FutexWait, object, pc);
    check_alive("a futex", object, pc);
    // SAFETY: the program's word; volatile because the program's threads change it.
    let found = unsafe { address.read_volatile() };
    gate::found(found.into(), Operands::wait(expected));
    if found != expected {
        gate::log(Kind::FutexWait, object, EAGAIN as u64, pc);
        return -EAGAIN;
    }
    stay(object, bits, deadline, pc)
}

/// Waits at this word, whatever it is: 0 or a negative errno.
fn stay(object: u64, bits: u32, deadline: u64, pc: usize) -> c_int {
    let me = gate::me();
    // SAFETY: the running thread.
    unsafe { WAITERS.get() }.push(queue(object), me, object, bits);
    gate::log_full(Event {
        kind: Kind::FutexWait as u8,
        aux: u32::from(deadline != 0),
        object,
        pc: pc as u64,
        ..Event::default()
    });

    let wake = gate::point(Pending {
        deadline,
        interrupt: Interrupt::UnlessRestart,
        ..pending(Kind::FutexResume, object, pc)
    });
    // SAFETY: as above.
    let waiters = unsafe { WAITERS.get() };
    let place = *waiters.of(me);
    let result = if place.stage == Stage::Released {
        waiters.done(me);
        0
    } else {
        waiters.leave(queue(place.object), me);
        match wake {
            Wake::Interrupted => EINTR,
            _ => ETIMEDOUT,
        }
    };
    gate::log(Kind::FutexResume, place.object, result as u64, pc);
    -result
}

fn waiting(object: u64, bits: u32) -> usize {
    // SAFETY: the running thread.
    unsafe { WAITERS.get() }.count(queue(object), bits)
}

fn nth(object: u64, bits: u32, n: usize) -> Option<Slot> {
    // SAFETY: the running thread.
    unsafe { WAITERS.get() }.nth(queue(object), bits, n)
}

/// Wakes `count` waiters of those that there are, after the record of the step. Which ones is a
/// choice, unless it is all of them.
fn release(object: u64, bits: u32, count: usize) {
    for rest in (1..=count).rev() {
        let left = waiting(object, bits);
        let picked = if left > rest { gate::choose(left) } else { 0 };
        if left > rest {
            gate::log_choice(picked, left);
        }
        let Some(who) = nth(object, bits, picked) else {
            return;
        };
        // SAFETY: the running thread.
        unsafe { WAITERS.get() }.release(queue(object), who);
        gate::amend(who, |p| {
            p.ready = always;
            p.deadline = 0;
        });
    }
}

/// Wakes up to `most`: how many. A word in freed memory is no mistake here: whoever unlocks wakes
/// afterwards, when the object may be gone.
fn wake(address: *const u32, most: usize, bits: u32, pc: usize) -> usize {
    let object = address as u64;
    let others =
        || waiting(object, u32::MAX) > 0 || many::anybody_waits() || followed::any_moved(object);
    if crate::vars::symbolic()
        && bits == u32::MAX
        && !others()
        && let Some(woken) = followed::wake(address, most, pc)
    {
        return woken;
    }
    // These wait for all bits.
    let followed = followed::wake_besides(address, if bits == 0 { 0 } else { most }, pc);
    gate::simple(Kind::FutexWake, object, pc);
    let most = most - followed;
    let count = most.min(waiting(object, bits));
    let more = many::wake(object, most - count);
    gate::log(Kind::FutexWake, object, (count + more) as u64, pc);
    release(object, bits, count);
    followed + count + more
}

/// The record of a wake that does something at another address too.
fn log_elsewhere(object: u64, woken: u64, pc: usize) {
    gate::log_full(Event {
        kind: Kind::FutexWake as u8,
        size: 1,
        object,
        value: woken,
        pc: pc as u64,
        ..Event::default()
    });
}

/// Wakes up to `most` and moves up to `more` others to the queue at `to`: how many of both, or
/// -EAGAIN when the word is not `expected`.
unsafe fn requeue(
    address: *const u32,
    [most, more]: [usize; 2],
    to: *const u32,
    expected: Option<u32>,
    pc: usize,
) -> isize {
    let (object, target) = (address as u64, to as u64);
    // SAFETY: the program's word; volatile because the program's threads change it.
    let differs = || expected.is_some_and(|value| value != unsafe { address.read_volatile() });
    let (mut woken, mut moved) = (0, 0);
    if !differs() {
        woken = followed::wake_besides(address, most, pc);
        moved = followed::move_besides(address, more, target, pc);
    }
    gate::simple(Kind::FutexWake, object, pc);
    if differs() {
        log_elsewhere(object, 0, pc);
        return -(EAGAIN as isize);
    }
    let (followed, most, more) = (woken + moved, most - woken, more - moved);
    let count = most.min(waiting(object, u32::MAX));
    log_elsewhere(object, count as u64, pc);
    release(object, u32::MAX, count);
    let moved = more.min(waiting(object, u32::MAX));
    if object != target {
        for _ in 0..moved {
            let Some(who) = nth(object, u32::MAX, 0) else {
                break;
            };
            let (mut from, mut onto) = (*queue(object), *queue(target));
            // SAFETY: the running thread.
            unsafe { WAITERS.get() }.move_over(&mut from, &mut onto, who, target);
            *queue(object) = from;
            *queue(target) = onto;
            gate::amend(who, |p| p.object = target);
        }
    }
    (followed + count + moved) as isize
}

/// Changes the word at `other`, wakes up to `most` at `address`, and up to `more` at `other` if
/// the old value there is as asked: how many of both.
unsafe fn wake_with_op(
    address: *const u32,
    [most, more]: [usize; 2],
    other: *mut u32,
    what: u32,
    pc: usize,
) -> isize {
    let (object, second) = (address as u64, other as u64);
    let woken = followed::wake_besides(address, most, pc);
    gate::simple(Kind::FutexWake, object, pc);
    // SAFETY: the program's word; volatile because the program's threads change it.
    let old = unsafe { other.read_volatile() };
    let Some((new, also)) = wake_op(old, what) else {
        log_elsewhere(object, 0, pc);
        return -(ENOSYS as isize);
    };
    gate::writes(second, size_of::<u32>() as u64);
    // SAFETY: as above.
    unsafe { other.write_volatile(new) };
    let first = (most - woken).min(waiting(object, u32::MAX));
    let more = if also { more } else { 0 };
    let then = more.min(waiting(second, u32::MAX));
    log_elsewhere(object, (first + then) as u64, pc);
    release(object, u32::MAX, first);
    release(second, u32::MAX, then);
    let followed = woken + followed::wake_besides(other, more - then, pc);
    (followed + first + then) as isize
}

/// The arguments of one `syscall`.
#[derive(Clone, Copy)]
struct Call {
    number: c_long,
    args: [usize; 6],
    pc: usize,
}

/// The futex system call: its result, or a negative errno.
unsafe fn futex(call: Call) -> isize {
    let [address, op, value, fourth, fifth, sixth] = call.args;
    let operation = Operation::of(op as c_int);
    let (word, other) = (address as *const u32, fifth as *mut u32);
    let bits = if operation.bitset {
        sixth as u32
    } else {
        u32::MAX
    };
    if address % align_of::<u32>() != 0 || bits == 0 {
        return -(EINVAL as isize);
    }
    // A negative count means all, as it does to the kernel.
    let counts = [value as u32 as usize, fourth as u32 as usize];
    // SAFETY: the program's arguments.
    let result = unsafe {
        match operation.request {
            Request::Wait | Request::Lock => {
                let limit = (fourth as *const timespec).as_ref();
                let deadline = match limit {
                    None => Some(0),
                    Some(at) if operation.absolute => time::deadline(operation.clock, at),
                    Some(duration) => time::deadline_after(duration),
                };
                match deadline {
                    Some(deadline) if operation.request == Request::Lock => {
                        inherit::lock(word.cast_mut(), deadline, call.pc) as isize
                    }
                    Some(deadline) => wait(word, value as u32, bits, deadline, call.pc) as isize,
                    None => -(EINVAL as isize),
                }
            }
            Request::TryLock => inherit::try_lock(word.cast_mut(), call.pc) as isize,
            Request::Unlock => inherit::unlock(word.cast_mut(), call.pc) as isize,
            Request::Wake => wake(word, counts[0], bits, call.pc) as isize,
            Request::Requeue { compare } => requeue(
                word,
                counts,
                other,
                compare.then_some(sixth as u32),
                call.pc,
            ),
            Request::WakeOp => wake_with_op(word, counts, other, sixth as u32, call.pc),
            Request::Unknown => {
                gate::uncontrolled("a futex operation that is not known");
                -(ENOSYS as isize)
            }
        }
    };
    if matches!(
        operation.request,
        Request::Wake | Request::Requeue { .. } | Request::WakeOp | Request::Unlock
    ) {
        gate::returns(call.pc);
    }
    result
}

/// The system calls by which threads wait at words: futex, futex_waitv, and futex_wake, futex_wait
/// and futex_requeue of Linux 6.7, which have no names in the C library yet.
pub const CALLS: [c_long; 5] = [SYS_futex, SYS_futex_waitv, 454, 455, 456];

/// One of [`CALLS`] with these arguments, made at `pc` without the C library: the kernel's result.
///
/// # Safety
/// The arguments are what the kernel would take.
pub unsafe fn trapped(number: c_long, args: [usize; 6], pc: usize) -> isize {
    // SAFETY: passed on.
    unsafe { at_words(Call { number, args, pc }) }
}

/// One of [`CALLS`]. Those of Linux 6.7 fail as on kernels that do not know them.
#[allow(non_upper_case_globals)] // the numbers' names are libc's
unsafe fn at_words(call: Call) -> isize {
    // SAFETY: the program's arguments, as the kernel would take them.
    unsafe {
        match call.number {
            SYS_futex => futex(call),
            SYS_futex_waitv => many::wait(call.args, call.pc),
            _ => -(libc::ENOSYS as isize),
        }
    }
}

/// The three calls that send a signal: the result, or a negative errno.
unsafe fn kill(call: Call) -> isize {
    let [a, b, c, ..] = call.args;
    let (whole, first, second) = (call.number == SYS_kill, a as pid_t, b as c_int);
    let sent = if call.number != SYS_tgkill {
        match whole {
            true => signals::kill_process(first, second, call.pc),
            false => signals::kill_by_id(first, second, call.pc),
        }
    } else if numbers::is_process(first) {
        signals::kill_by_id(second, c as c_int, call.pc)
    } else {
        None
    };
    match sent {
        Some(errno) => -(errno as isize),
        // SAFETY: the program's numbers.
        None => unsafe { numbers::calls::perform(call.number, call.args) },
    }
}

/// Does the kernel find at once that memory is not there which the call is to access?
fn finds_nothing(call: Call) -> bool {
    let Direct::As(name) = direct(call.number as u64) else {
        return call.number == SYS_futex && gone::is_missing(call.args[0] as *const u32);
    };
    let Some((_, row)) = effects::find(name) else {
        return false;
    };
    let known = Known::of(name);
    let is_gone = |effect: &Effect| {
        let Some(argument) = effect.argument().filter(|&n| n < 6) else {
            return false;
        };
        let at = call.args[usize::from(argument)];
        // Of buffers of bytes the first one, as in functions.
        let len = match effect.extent {
            Extent::Size(len) => len as usize,
            _ => effect.unit.into(),
        };
        let mut memory = [None; 6];
        memory[usize::from(argument)] = Some(match effect.writes {
            true => Memory::written(at, len),
            false => Memory::read(at, len),
        });
        gone::any(&known, &memory, &call.args)
    };
    row.effects.iter().any(is_gone)
}

/// One system call of a controlled thread: the kernel's result, or ours in its stead.
#[allow(non_upper_case_globals)] // the numbers' names are libc's
unsafe fn perform(call: Call) -> isize {
    let [a, b, c, d, e, f] = call.args;
    if finds_nothing(call) {
        // SAFETY: the kernel finds nothing to access.
        return unsafe { os::syscall(call.number, a, b, c, d, e, f) };
    }
    // SAFETY: the program's arguments, as the kernel would take them.
    unsafe {
        match call.number {
            number if CALLS.contains(&number) => at_words(call),
            SYS_sched_yield => time::yield_now(call.pc) as isize,
            SYS_clock_gettime if b == 0 => os::syscall(call.number, a, b, 0, 0, 0, 0),
            SYS_clock_gettime => time::get(a as c_int, b as *mut timespec) as isize,
            SYS_gettimeofday => {
                time::time_of_day(a as *mut libc::timeval);
                0
            }
            SYS_time => time::seconds(a as *mut libc::time_t) as isize,
            SYS_nanosleep => -time::sleep_by(
                CLOCK_REALTIME,
                0,
                a as *const timespec,
                b as *mut timespec,
                call.pc,
            ) as isize,
            SYS_clock_nanosleep => -time::sleep_by(
                a as c_int,
                b as c_int,
                c as *const timespec,
                d as *mut timespec,
                call.pc,
            ) as isize,
            SYS_times => time::ticks(a as *mut libc::tms) as isize,
            SYS_getrusage => machine::usage(a as c_int, b as *mut libc::rusage),
            SYS_sysinfo => machine::state(a as *mut libc::sysinfo),
            SYS_getcpu => {
                for into in [a as *mut u32, b as *mut u32] {
                    if let Some(into) = into.as_mut() {
                        *into = 0;
                    }
                }
                0
            }
            SYS_gettid => numbers::own() as isize,
            SYS_getpid => numbers::PROCESS as isize,
            SYS_getrandom => entropy::getrandom(a as *mut u8, b, c as u32),
            SYS_exit_group => libc::_exit(a as c_int),
            SYS_exit => gate::finish(Fatal {
                end: End::Unsupported,
                code: 0,
                message: format_args!("a thread ended by a direct exit system call"),
                detail: [0; 4],
                pc: call.pc,
                stack: true,
            }),
            SYS_tgkill | SYS_tkill | SYS_kill => kill(call),
            SYS_wait4 => process::wait_call(call.args, false, call.pc),
            SYS_waitid => process::wait_call(call.args, true, call.pc),
            SYS_clone | SYS_clone3 | SYS_fork | SYS_vfork => {
                gate::uncontrolled("a new process or thread by a direct system call");
                let child = os::syscall(call.number, a, b, c, d, e, f);
                let own_memory = call.number == SYS_fork
                    || call.number == SYS_clone && a as c_int & libc::CLONE_VM == 0;
                if child == 0 && own_memory {
                    gate::leave();
                }
                child
            }
            _ => match crate::io::perform(call.number, call.args, call.pc)
                .or_else(|| maps::direct(call.number, call.args, call.pc))
            {
                Some(result) => result,
                None => {
                    if let Some(name) = unmodelled::name(call.number) {
                        gate::uncontrolled(name);
                    }
                    let own = threads::perform(call.number, call.args);
                    own.unwrap_or_else(|| numbers::calls::perform(call.number, call.args))
                }
            },
        }
    }
}

/// What the export calls: the C library's `syscall` with its arguments in their places, then the
/// return address.
#[allow(clippy::too_many_arguments)]
unsafe extern "C-unwind" fn on_syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
    pc: usize,
) -> c_long {
    let args = [a, b, c, d, e, f];
    // SAFETY: the program's arguments, handed on.
    let result = unsafe {
        if gate::active() {
            perform(Call { number, args, pc })
        } else {
            os::syscall(number, a, b, c, d, e, f)
        }
    };
    if (-4095..0).contains(&result) {
        return c_long::from(time::errno_result(-result as c_int));
    }
    result as c_long
}

crate::export_seven! {
    /// The C library's `syscall`: the number and six arguments of a system call.
    fn syscall = on_syscall;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        let operation = |request, bitset, clock| Operation {
            request,
            bitset,
            absolute: bitset,
            clock,
        };
        use Clock::{Monotonic, Wall};
        for (op, expected) in [
            (0, operation(Request::Wait, false, Monotonic)),
            (128, operation(Request::Wait, false, Monotonic)),
            (128 | 9, operation(Request::Wait, true, Monotonic)),
            (128 | 256 | 9, operation(Request::Wait, true, Wall)),
            (128 | 1, operation(Request::Wake, false, Monotonic)),
            (10, operation(Request::Wake, true, Monotonic)),
            (
                3,
                operation(Request::Requeue { compare: false }, false, Monotonic),
            ),
            (
                128 | 4,
                operation(Request::Requeue { compare: true }, false, Monotonic),
            ),
            (128 | 5, operation(Request::WakeOp, false, Monotonic)),
            (7, operation(Request::Unlock, false, Monotonic)),
            (128 | 8, operation(Request::TryLock, false, Monotonic)),
            (11, operation(Request::Unknown, false, Monotonic)),
            (64, operation(Request::Unknown, false, Monotonic)),
        ] {
            assert_eq!(Operation::of(op), expected, "{op}");
        }
    }

    #[test]
    fn word_operations() {
        let encode = |op: u32, cmp: u32, operand: u32, comparand: u32| {
            op << 28 | cmp << 24 | (operand & 0xfff) << 12 | comparand & 0xfff
        };
        for (old, what, expected) in [
            (7, encode(0, 0, 3, 7), Some((3, true))),
            (7, encode(1, 1, 3, 7), Some((10, false))),
            (5, encode(1, 2, 0xfff, 6), Some((4, true))),
            (5, encode(2, 3, 2, 5), Some((7, true))),
            (7, encode(3, 4, 2, 7), Some((5, false))),
            (7, encode(4, 5, 1, 7), Some((6, true))),
            (1, encode(8, 0, 4, 1), Some((16, true))),
            (0, encode(0, 4, 0, 0xfff), Some((0, true))),
            (0, encode(5, 0, 0, 0), None),
            (0, encode(0, 6, 0, 0), None),
        ] {
            assert_eq!(wake_op(old, what), expected, "{old} {what:#x}");
        }
    }
}
