//! Stacks at addresses that depend on the slot alone. The thread descriptor and the thread-local
//! storage lie at the stack's top, so `pthread_t` and the addresses of thread-local variables do
//! not depend on the interleaving either.

use super::{Attributes, real};
use crate::os::{PAGE, map_fixed, map_memory};
use core::ffi::{c_int, c_void};
use core::mem::MaybeUninit;
use libc::{pthread_attr_t, pthread_t};
use raddle_protocol::{Slot, slot, stack};

const BASE: usize = stack::BASE as usize;
const OTHER_BASE: usize = stack::OTHER_BASE as usize;
const SPAN: usize = stack::SPAN as usize;
/// The largest stack that fits into a slot's area, in pages.
pub const MOST_PAGES: usize = SPAN / PAGE - 1;

/// The slot whose stack area holds the descriptor `thread`.
pub fn slot_of_pthread(thread: pthread_t) -> Option<Slot> {
    stack::slot_of(thread).filter(|&s| s != slot::MAIN)
}

/// Calls the C library's `pthread_create` with a stack of ours (or the program's own).
pub fn create(
    s: Slot,
    attr: &Attributes,
    routine: super::Entry,
    argument: *mut c_void,
) -> Result<pthread_t, c_int> {
    let mut own = MaybeUninit::<pthread_attr_t>::uninit();
    // SAFETY: attributes are initialised, or copied from initialised ones and used only here; the
    // stack is fresh memory.
    unsafe {
        if attr.given.is_null() {
            libc::pthread_attr_init(own.as_mut_ptr());
        } else {
            own.as_mut_ptr().copy_from_nonoverlapping(attr.given, 1);
        }
        let own = own.as_mut_ptr();
        libc::pthread_attr_setdetachstate(own, libc::PTHREAD_CREATE_JOINABLE);
        if !attr.user_stack {
            let size = attr.stack.next_multiple_of(PAGE);
            let low = map(s, size, attr.guard).ok_or(libc::EAGAIN)?;
            let error = libc::pthread_attr_setstack(own, low.cast(), size);
            if error != 0 {
                return Err(error);
            }
        }
        let mut thread = 0;
        match real::pthread_create(&mut thread, own, routine, argument) {
            0 => Ok(thread),
            error => Err(error),
        }
    }
}

/// Gives back the memory of the stack of `s`, a thread that has ended for good. Its descriptor stays,
/// because the C library keeps a list of them.
pub fn release(s: Slot, thread: pthread_t) {
    let end = (thread as usize).saturating_sub(PAGE) & !(PAGE - 1);
    let base = match end {
        OTHER_BASE.. => OTHER_BASE,
        _ => BASE,
    };
    let start = base + SPAN * usize::from(s);
    if (start..start + SPAN).contains(&end) {
        crate::os::forget_memory(start, end - start);
    }
}

/// Maps a stack of `size` bytes that ends where the slot's area ends; what is below it in the
/// area stays unmapped and serves as guard. Larger ones go anywhere.
fn map(s: Slot, size: usize, guard: usize) -> Option<*mut u8> {
    if size + guard.max(PAGE) <= SPAN {
        let base = if super::pool::occupies(s) {
            OTHER_BASE
        } else {
            BASE
        };
        return map_fixed(base + SPAN * (usize::from(s) + 1) - size, size);
    }
    let guard = guard.next_multiple_of(PAGE);
    let low = map_memory(size + guard);
    // SAFETY: the mapping is new.
    unsafe {
        libc::mprotect(low.cast(), guard, libc::PROT_NONE);
        Some(low.add(guard))
    }
}
