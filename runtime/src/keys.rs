//! Thread-specific data: the key with the highest number is ours, and stays hidden.
//!
//! Its destructor runs last in every round of destructors, and that is how a thread's end is
//! caught on the thread itself: after `thread_local` destructors, cleanup handlers and everybody
//! else's keys, before the C library's own tail. It works for a return, `pthread_exit` and
//! cancellation alike.

use crate::gate;
use crate::serial::Serial;
use core::ffi::{c_int, c_void};
use libc::pthread_key_t;
use raddle_protocol::conflict::kept;

mod real {
    use libc::pthread_key_t;
    crate::real! {
        fn pthread_key_delete(key: pthread_key_t) -> core::ffi::c_int;
    }
}

crate::export! {
    /// As in POSIX; our own key does not exist for the program.
    fn pthread_key_delete(key: pthread_key_t) -> c_int = delete;
}

/// The highest key of glibc (PTHREAD_KEYS_MAX - 1).
const HIGHEST: pthread_key_t = 1023;
/// Rounds of destructors (PTHREAD_DESTRUCTOR_ITERATIONS).
const ROUNDS: usize = 4;

static ENDING: Serial<fn()> = Serial::new(|| {});

unsafe extern "C-unwind" fn delete(
    key: pthread_key_t,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    pc: usize,
) -> c_int {
    if key == HIGHEST && gate::active() {
        return libc::EINVAL;
    }
    if gate::active() {
        gate::ask(kept::KEYS, true, pc);
    }
    // SAFETY: passed on.
    unsafe { real::pthread_key_delete(key) }
}

/// Takes the highest key. `ending` is called at the very end of every thread that called [`arm`].
pub fn install(ending: fn()) {
    // SAFETY: only one thread exists.
    unsafe {
        *ENDING.get() = ending;
        let mut lowest = None;
        loop {
            let mut key: pthread_key_t = 0;
            if libc::pthread_key_create(&mut key, Some(destructor)) != 0 {
                crate::os::die(
                    "raddle: the last key for thread-specific data is taken",
                    b"",
                );
            }
            let first = *lowest.get_or_insert(key);
            if key == HIGHEST {
                for other in first..HIGHEST {
                    // Keys that somebody else has taken meanwhile are not in this range: they
                    // are handed out in ascending order, and no other thread exists.
                    real::pthread_key_delete(other);
                }
                return;
            }
        }
    }
}

/// The calling thread's end will be noticed.
pub fn arm() {
    set(1);
}

fn set(round: usize) {
    // SAFETY: the key is ours.
    unsafe { libc::pthread_setspecific(HIGHEST, round as *const c_void) };
}

unsafe extern "C" fn destructor(round: *mut c_void) {
    let round = round as usize;
    if round < ROUNDS {
        return set(round + 1);
    }
    // SAFETY: written once, before there are threads.
    unsafe { (*ENDING.get())() }
}
