//! Kernel threads that hand a baton round by futex, all on one core. Nothing is virtualised: for
//! debuggers and for code that depends on the identity of its kernel thread.

use super::{Attributes, Substrate, context, entry, stacks};
use crate::os;
use core::ffi::c_int;
use core::sync::atomic::{AtomicU32, Ordering};
use libc::pthread_t;
use raddle_protocol::{Slot, slot};

/// The substrate of this name.
pub struct Baton;

/// See [`super::begin`].
pub fn begin() {
    os::pin_to_one_core();
}

fn word(s: Slot) -> &'static AtomicU32 {
    // SAFETY: mapped for ever; an atomic.
    unsafe { &(*context(s)).word }
}

fn wait(word: &AtomicU32) {
    while word.swap(0, Ordering::Acquire) == 0 {
        os::futex_wait(word, 0);
    }
}

fn pass(to: Slot) {
    word(to).store(1, Ordering::Release);
    os::futex_wake(word(to));
}

impl Substrate for Baton {
    fn spawn(&mut self, s: Slot, attr: &Attributes) -> Result<pthread_t, c_int> {
        word(s).store(0, Ordering::Relaxed);
        stacks::create(s, attr, entry, context(s).cast())
    }

    fn switch(&mut self, from: Slot, to: Slot) {
        pass(to);
        wait(word(from));
    }

    fn finish(&mut self, me: Slot, to: Slot) -> ! {
        pass(to);
        if me == slot::MAIN {
            // The process's first thread stays, so that the process does not look dead.
            loop {
                wait(word(me));
            }
        }
        os::exit_thread()
    }
}

/// First thing on a new thread: waits until it is handed the baton.
pub fn park(word: &AtomicU32) {
    wait(word);
    crate::ends::use_alternate_stack();
}
