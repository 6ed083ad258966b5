//! Futexes with priority inheritance (futex(2), FUTEX_LOCK_PI and its kin). The word holds the id
//! of the thread that has the lock, and a bit that says that others wait. Priorities do not exist
//! here: the lock is handed to whoever has waited longest.

use super::{WAITERS, nth, queue, waiting};
use crate::gate::{self, Pending};
use crate::numbers::{own as own_id, slot_of};
use crate::serial::Serial;
use crate::slots::PerSlot;
use crate::sync::model::queue::Stage;
use crate::sync::{always, check_alive, pending};
use core::ffi::c_int;
use libc::{EAGAIN, EDEADLK, EPERM, ETIMEDOUT};
use raddle_protocol::event::Kind;
use raddle_protocol::{Slot, slot};

/// Bits of the word.
const OWNER: u32 = 0x3fff_ffff;
const DIED: u32 = 0x4000_0000;
const OTHERS_WAIT: u32 = 0x8000_0000;

/// The id by which each waiting thread will own the word.
static IDS: Serial<PerSlot<u64>> = Serial::new(PerSlot::new());

fn id_of(s: Slot) -> &'static mut u64 {
    // SAFETY: the running thread; not kept over a switch.
    unsafe {
        let ids = IDS.get();
        ids.map();
        &mut ids[s]
    }
}

/// What an attempt to take a word finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    /// The word becomes this.
    Takes(u32),
    /// The caller has it already.
    Own,
    /// Somebody else has it.
    Busy,
}

fn attempt(word: u32, me: u32) -> Attempt {
    match word & OWNER {
        0 => Attempt::Takes(word & (DIED | OTHERS_WAIT) | me),
        owner if owner == me => Attempt::Own,
        _ => Attempt::Busy,
    }
}

fn holder(p: &Pending) -> (Slot, usize) {
    // SAFETY: the program waits at this word.
    let word = unsafe { (p.object as *const u32).read_volatile() };
    let owner = slot_of((word & OWNER) as libc::pid_t);
    (owner.unwrap_or(slot::NONE), 0)
}

/// Takes the word at once or not at all: 0 or a negative errno.
///
/// # Safety
/// `address` is the program's word.
pub unsafe fn try_lock(address: *mut u32, pc: usize) -> c_int {
    let object = address as u64;
    gate::simple(Kind::FutexTryLock, object, pc);
    check_alive("a futex", object, pc);
    // SAFETY: the caller's promise.
    let result = unsafe { take(address) };
    gate::log(Kind::FutexTryLock, object, result as u64, pc);
    -result
}

/// 0 or an errno.
unsafe fn take(address: *mut u32) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        match attempt(address.read_volatile(), own_id() as u32) {
            Attempt::Takes(word) => {
                address.write_volatile(word);
                0
            }
            Attempt::Own => EDEADLK,
            Attempt::Busy => EAGAIN,
        }
    }
}

/// Takes the word; waits until `deadline` (virtual nanoseconds, 0: for ever): 0 or a negative
/// errno.
///
/// # Safety
/// `address` is the program's word.
pub unsafe fn lock(address: *mut u32, deadline: u64, pc: usize) -> c_int {
    let object = address as u64;
    gate::simple(Kind::FutexWait, object, pc);
    check_alive("a futex", object, pc);
    // SAFETY: the caller's promise.
    let result = unsafe { take(address) };
    gate::log(Kind::FutexWait, object, result as u64, pc);
    if result != EAGAIN {
        return -result;
    }
    let me = gate::me();
    *id_of(me) = own_id() as u64;
    // SAFETY: as above; the running thread.
    unsafe {
        address.write_volatile(address.read_volatile() | OTHERS_WAIT);
        WAITERS.get().push(queue(object), me, object, u32::MAX);
    }
    gate::point(Pending {
        deadline,
        holder,
        ..pending(Kind::FutexLock, object, pc)
    });
    // SAFETY: as above.
    let waiters = unsafe { WAITERS.get() };
    let result = if waiters.of(me).stage == Stage::Released {
        waiters.done(me);
        0
    } else {
        waiters.leave(queue(object), me);
        ETIMEDOUT
    };
    gate::log(Kind::FutexLock, object, result as u64, pc);
    -result
}

/// Gives the word up, to the thread that has waited longest: 0 or a negative errno.
///
/// # Safety
/// `address` is the program's word.
pub unsafe fn unlock(address: *mut u32, pc: usize) -> c_int {
    let object = address as u64;
    gate::simple(Kind::FutexUnlock, object, pc);
    // SAFETY: the caller's promise.
    let own = unsafe { address.read_volatile() } & OWNER == own_id() as u32;
    let result = if own { 0 } else { EPERM };
    if own {
        let next = nth(object, u32::MAX, 0);
        let more = if waiting(object, u32::MAX) > 1 {
            OTHERS_WAIT
        } else {
            0
        };
        let word = next.map_or(0, |who| *id_of(who) as u32 | more);
        // SAFETY: as above.
        unsafe { address.write_volatile(word) };
        if let Some(who) = next {
            // SAFETY: the running thread.
            unsafe { WAITERS.get() }.release(queue(object), who);
            gate::amend(who, |p| {
                p.ready = always;
                p.deadline = 0;
            });
        }
    }
    gate::log(Kind::FutexUnlock, object, result as u64, pc);
    -result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words() {
        for (word, expected) in [
            (0, Attempt::Takes(7)),
            (OTHERS_WAIT, Attempt::Takes(OTHERS_WAIT | 7)),
            (DIED, Attempt::Takes(DIED | 7)),
            (7, Attempt::Own),
            (OTHERS_WAIT | 7, Attempt::Own),
            (9, Attempt::Busy),
            (DIED | 9, Attempt::Busy),
        ] {
            assert_eq!(attempt(word, 7), expected, "{word:#x}");
        }
    }
}
