//! Mutexes, condition variables and semaphores in memory that a child process shares with this one. Nobody
//! controls the child, and it uses them by the C library's functions: the words of mutexes and
//! semaphores are changed, and their waiters woken, as the C library does; a wait for a condition
//! ends for no reason after a pause, since a signal that the child sends is not seen.

use crate::{gate, os, process};
use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

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

/// Gives other processes time, which passes for the program's threads as well.
pub fn pause() {
    os::rest(PAUSE);
    gate::advance_to(gate::now() + PAUSE);
}
