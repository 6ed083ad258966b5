//! Objects in memory that a child process shares with this one. Nobody controls the child, and it uses
//! them by the C library's functions: the words of mutexes, semaphores and barriers are changed, and
//! their waiters woken, as the C library does; read-write locks and robust mutexes are taken by the
//! C library's own functions that do not wait ([`until`]); a wait for a condition ends for no reason
//! after a pause, since a signal that the child sends is not seen.

use crate::gate::{Pending, Wake};
use crate::{gate, os, process};
use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

/// Nanoseconds of real time, and of virtual time, that a wait for a condition takes.
const PAUSE: u64 = 200_000;
/// What the lock word says of a mutex for which a thread waits in the kernel.
const WAITED_FOR: c_int = 2;

/// May another process use an object that is `shared`, as its attributes say?
pub fn in_use(shared: bool) -> bool {
    shared && process::has_forked()
}

/// Takes the lock whose word this is, if it is free.
///
/// # Safety
/// `word` is the program's, and aligned.
pub unsafe fn take(word: *mut c_int) -> bool {
    // SAFETY: the caller's promise.
    let word = unsafe { AtomicI32::from_ptr(word) };
    let taken = word.compare_exchange(0, 1, Ordering::AcqRel, Ordering::Relaxed);
    taken.is_ok()
}

/// Gives the lock back, and wakes a thread of another process that waits for it.
///
/// # Safety
/// As [`take`].
pub unsafe fn give_back(word: *mut c_int) {
    // SAFETY: the caller's promise.
    let former = unsafe { AtomicI32::from_ptr(word) }.swap(0, Ordering::AcqRel);
    if former == WAITED_FOR {
        wake(word);
    }
}

/// Wakes a thread of another process that waits in the kernel for this word to change.
pub fn wake(word: *const c_int) {
    if process::has_forked() {
        let (at, wake) = (word as usize, libc::FUTEX_WAKE as usize);
        // SAFETY: the kernel reads nothing.
        unsafe { os::syscall(libc::SYS_futex, at, wake, 1, 0, 0, 0) };
    }
}

/// Makes the count of a semaphore `new`; false if another process has changed what it was.
///
/// # Safety
/// `word` is the program's, and aligned.
pub unsafe fn replace_count(word: *mut c_uint, old: u32, new: u32) -> bool {
    // SAFETY: the caller's promise.
    let word = unsafe { AtomicU32::from_ptr(word) };
    let replaced = word.compare_exchange(old, new, Ordering::AcqRel, Ordering::Relaxed);
    replaced.is_ok()
}

/// Does `take`, which another process may be faster at, succeed?
pub fn attempt(take: impl Fn() -> bool) -> bool {
    gate::fact(|wanted| u16::from(wanted != Some(0) && take())) != 0
}

/// The result of `attempt`, a function of the C library that does not wait: EBUSY while another
/// process has the lock.
pub fn attempt_native(attempt: impl Fn() -> c_int) -> c_int {
    const BUSY: u16 = libc::EBUSY as u16;
    let look = |wanted| match wanted {
        Some(BUSY) => BUSY,
        _ => gate::passively(&attempt) as u16,
    };
    c_int::from(gate::fact(look))
}

/// Gives other processes time, which passes for the program's threads as well.
pub fn pause() {
    os::rest(PAUSE);
    gate::advance_to(gate::now() + PAUSE);
}

/// How often a thread of this process has given something back that other processes use.
static GIVEN_BACK: AtomicU64 = AtomicU64::new(0);

/// A thread of this process has given `object` back.
pub fn given_back(object: u64) {
    GIVEN_BACK.fetch_add(1, Ordering::Relaxed);
    gate::touch(object);
}

fn worth_an_attempt(p: &Pending, _: Slot) -> bool {
    p.aux != GIVEN_BACK.load(Ordering::Relaxed) || process::any_alive()
}

/// Repeats `attempt`, a function of the C library that does not wait, each time as a step, until it
/// returns something else than EBUSY, or ETIMEDOUT when the virtual time `deadline` (0: none) has come
/// first. `kinds`: of the wait, and of an attempt in vain. The last step is the caller's to record.
pub fn until(
    kinds: [Kind; 2],
    object: u64,
    deadline: u64,
    pc: usize,
    attempt: impl Fn() -> c_int,
) -> c_int {
    let mut tried = u64::MAX;
    loop {
        let wake = gate::point(Pending {
            aux: tried,
            deadline,
            ready: worth_an_attempt,
            outside: true,
            ..super::pending(kinds[0], object, pc)
        });
        if wake != Wake::Ready {
            return libc::ETIMEDOUT;
        }
        tried = GIVEN_BACK.load(Ordering::Relaxed);
        match attempt_native(&attempt) {
            libc::EBUSY => gate::log(kinds[1], object, libc::EBUSY as u64, pc),
            code => return code,
        }
        match gate::told(gate::others_ready()) {
            true => gate::pass_over(),
            false => pause(),
        }
    }
}

/// Wakes all threads of other processes that wait in the kernel for this word to change.
pub fn wake_all(word: *const c_uint) {
    let (at, wake, all) = (
        word as usize,
        libc::FUTEX_WAKE as usize,
        c_int::MAX as usize,
    );
    // SAFETY: the kernel reads nothing.
    unsafe { os::syscall(libc::SYS_futex, at, wake, all, 0, 0, 0) };
}
