//! flockfile and its kin: a stream's lock is a mutex that its holder may lock again.

use super::streams::control_streams;
use crate::gate::{self, Pending};
use crate::objects::Table;
use crate::serial::Serial;
use crate::{intercept, sync};
use core::ffi::c_int;
use libc::{EBUSY, FILE};
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// Who has locked a stream by one of these functions, how often, and where.
#[derive(Clone, Copy)]
struct Held {
    by: Slot,
    depth: u32,
    at: usize,
}

/// By the addresses of locks. What locks a stream while it runs, as fputs does, is not among them: who
/// comes between waits in the C library.
static HELD: Serial<Table<Held>> = Serial::new(Table::new());

/// The lock of a stream.
fn lock_of(stream: *mut FILE) -> u64 {
    /// Where glibc's `FILE` has the pointer to it.
    const LOCK: usize = 0x88;
    // SAFETY: the program's stream.
    unsafe { *((stream as usize + LOCK) as *const u64) }
}

/// The first word of a lock: 0 if it is free, also by the end of a stream that was there before.
fn word(lock: u64) -> c_int {
    // SAFETY: the program's stream.
    unsafe { (lock as *const c_int).read_volatile() }
}

fn held(lock: u64) -> Option<&'static mut Held> {
    // SAFETY: the running thread; the callers' references end before anything switches.
    let held = unsafe { HELD.get() }.get(lock)?;
    (held.depth > 0 && word(lock) != 0).then_some(held)
}

/// The running thread makes a futex call in a function of the C library. If it is to wait for a stream
/// that somebody has locked, it came to that function's lock in a step that nothing told of, and an
/// exhaustive search does not know that others may be first there.
pub fn about_to_wait(word: usize, operation: c_int) {
    let waits =
        [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET].contains(&(operation & libc::FUTEX_CMD_MASK));
    if waits && gate::flags() & flags::EXHAUSTIVE != 0 && held(word as u64).is_some() {
        gate::uncontrolled("a function that waits for a stream that flockfile has locked");
    }
}

fn ready(p: &Pending, who: Slot) -> bool {
    held(p.object).is_none_or(|held| held.by == who)
}

fn holder(p: &Pending) -> (Slot, usize) {
    held(p.object).map_or((slot::NONE, 0), |held| (held.by, held.at))
}

/// The running thread has it, once more or for the first time.
fn took(lock: u64, pc: usize) {
    let by = gate::me();
    match held(lock) {
        Some(held) if held.by == by => held.depth += 1,
        _ => {
            let new = Held {
                by,
                depth: 1,
                at: pc,
            };
            // SAFETY: as in `held`.
            *unsafe { HELD.get() }.entry(lock, || new) = new;
        }
    }
    gate::writes(lock, size_of::<c_int>() as u64);
    gate::touch(lock);
}

intercept! {
    /// Whoever locks a stream may go on while others run, who then wait for it in the C library.
    fn flockfile(stream: *mut FILE) -> (), pc => {
        control_streams();
        let lock = lock_of(stream);
        gate::point(Pending {
            ready,
            holder,
            ..sync::pending(Kind::MutexLock, lock, pc)
        });
        real::flockfile(stream);
        took(lock, pc);
        gate::log(Kind::MutexLock, lock, 0, pc);
    };
    fn ftrylockfile(stream: *mut FILE) -> c_int, pc => {
        control_streams();
        let lock = lock_of(stream);
        gate::simple(Kind::MutexTryLock, lock, pc);
        let result = real::ftrylockfile(stream);
        match result {
            0 => took(lock, pc),
            _ => {
                gate::saw(lock, size_of::<c_int>() as u32, word(lock) as u64);
                gate::found_held(lock);
            }
        }
        let code = if result == 0 { 0 } else { EBUSY };
        gate::log(Kind::MutexTryLock, lock, code as u64, pc);
        result
    };
    fn funlockfile(stream: *mut FILE) -> (), pc => {
        let lock = lock_of(stream);
        gate::simple(Kind::MutexUnlock, lock, pc);
        if let Some(held) = held(lock) {
            held.depth -= 1;
        }
        gate::writes(lock, size_of::<c_int>() as u64);
        gate::log(Kind::MutexUnlock, lock, 0, pc);
        real::funlockfile(stream);
        gate::touch(lock);
    };
}
