//! Thread-specific data: the key with the highest number is ours, and stays hidden.
//!
//! Its destructor runs last in every round of destructors, and that is how a thread's end is
//! caught on the thread itself: after `thread_local` destructors, cleanup handlers and everybody
//! else's keys, before the C library's own tail. It works for a return, `pthread_exit` and
//! cancellation alike.

use crate::serial::Serial;
use crate::{gate, threads};
use core::ffi::{c_int, c_void};
use libc::pthread_key_t;
use raddle_protocol::conflict::kept;

/// What runs for what a thread leaves under a key.
type Destructor = Option<unsafe extern "C-unwind" fn(*mut c_void)>;

mod real {
    use super::Destructor;
    use core::ffi::c_int;
    use libc::pthread_key_t;
    crate::real! {
        fn pthread_key_create(key: *mut pthread_key_t, destructor: Destructor) -> c_int;
        fn pthread_key_delete(key: pthread_key_t) -> c_int;
    }
}

crate::export! {
    /// As in POSIX.
    fn pthread_key_create(key: *mut pthread_key_t, destructor: Destructor) -> c_int = create_from;
    /// As in POSIX; our own key does not exist for the program.
    fn pthread_key_delete(key: pthread_key_t) -> c_int = delete_from;
    /// As in C11.
    fn tss_create(key: *mut pthread_key_t, destructor: Destructor) -> c_int = create_c11_from;
    /// As in C11.
    fn tss_delete(key: pthread_key_t) -> () = delete_c11_from;
}

/// The highest key of glibc (PTHREAD_KEYS_MAX - 1).
const HIGHEST: pthread_key_t = 1023;
/// Rounds of destructors (PTHREAD_DESTRUCTOR_ITERATIONS).
const ROUNDS: usize = 4;

static ENDING: Serial<fn()> = Serial::new(|| {});

/// Which keys of the program have destructors; and whether there has been one.
struct Destructors {
    of: [bool; HIGHEST as usize + 1],
    any: bool,
}

static DESTRUCTORS: Serial<Destructors> = Serial::new(Destructors {
    of: [false; HIGHEST as usize + 1],
    any: false,
});

fn destructors() -> &'static mut Destructors {
    // SAFETY: the running thread; not kept over a switch.
    unsafe { DESTRUCTORS.get() }
}

unsafe extern "C-unwind" fn create_from(
    key: *mut pthread_key_t,
    destructor: Destructor,
    _: usize,
) -> c_int {
    // SAFETY: the program's arguments.
    let result = unsafe { real::pthread_key_create(key, destructor) };
    if result == 0 {
        // SAFETY: the C library has written it.
        if let Some(has) = destructors().of.get_mut(unsafe { *key } as usize) {
            *has = destructor.is_some();
            destructors().any |= destructor.is_some();
        }
    }
    result
}

unsafe extern "C-unwind" fn create_c11_from(
    key: *mut pthread_key_t,
    destructor: Destructor,
    _: usize,
) -> c_int {
    const ERROR: c_int = 2;
    // SAFETY: the program's arguments.
    match unsafe { create_from(key, destructor, 0) } {
        0 => 0,
        // There is no key left: that has no name of its own in C11.
        _ => ERROR,
    }
}

fn delete(key: pthread_key_t, pc: usize) -> c_int {
    if key == HIGHEST && gate::active() {
        return libc::EINVAL;
    }
    if gate::active() {
        let has_destructor = destructors().of.get(key as usize) == Some(&true);
        // Threads that end look for the destructors of their keys, one after another.
        match has_destructor && threads::any_unjoined() {
            true => gate::ask_unfollowed(kept::DESTRUCTORS, true, pc),
            false => gate::ask(kept::KEYS, true, pc),
        }
    }
    // SAFETY: passed on.
    unsafe { real::pthread_key_delete(key) }
}

unsafe extern "C-unwind" fn delete_from(key: pthread_key_t, pc: usize) -> c_int {
    delete(key, pc)
}

unsafe extern "C-unwind" fn delete_c11_from(key: pthread_key_t, pc: usize) {
    delete(key, pc);
}

/// The running thread begins to end: from now on it looks for destructors.
pub fn will_run() {
    if destructors().any {
        gate::ask(kept::DESTRUCTORS, false, 0);
    }
}

/// Takes the highest key. `ending` is called at the very end of every thread that called [`arm`].
pub fn install(ending: fn()) {
    // SAFETY: only one thread exists.
    unsafe {
        *ENDING.get() = ending;
        let mut lowest = None;
        loop {
            let mut key: pthread_key_t = 0;
            // Not by our own function: these are not the program's.
            if real::pthread_key_create(&mut key, Some(destructor)) != 0 {
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

unsafe extern "C-unwind" fn destructor(round: *mut c_void) {
    let round = round as usize;
    if round < ROUNDS {
        return set(round + 1);
    }
    // SAFETY: written once, before there are threads.
    unsafe { (*ENDING.get())() }
}
