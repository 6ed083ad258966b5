//! The locks of streams: a stream's lock is a mutex that its holder may lock again, by flockfile, and that all
//! functions of streams hold while they run. Of the latter others know only where others can run, or meet the
//! lock: where the program locks streams itself, or has functions of its own called with such a lock held.

use super::streams::control_streams;
use crate::gate::{self, Pending};
use crate::objects::Table;
use crate::serial::Serial;
use crate::{intercept, states, sync};
use core::ffi::c_int;
use core::sync::atomic::{AtomicU8, Ordering};
use libc::{EBUSY, FILE};
use raddle_protocol::event::Kind;
use raddle_protocol::shared::flags;
use raddle_protocol::{Slot, slot};

/// Who has locked a stream by one of these functions, how often, and where.
#[derive(Clone, Copy)]
struct Held {
    by: Slot,
    depth: u32,
    /// So often by functions that hold it while they run.
    calls: u32,
    at: usize,
}

/// By the addresses of locks. What locks a stream while it runs, as fputs does, is among them where
/// [that matters](are_met).
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
    (held.depth > 0 && (held.calls > 0 || word(lock) != 0)).then_some(held)
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

/// The running thread has it, once more or for the first time; by a `call` that holds it while it runs?
fn took(lock: u64, call: bool, pc: usize) {
    let by = gate::me();
    match held(lock) {
        Some(held) if held.by == by => {
            held.depth += 1;
            held.calls += u32::from(call);
        }
        _ => {
            let new = Held {
                by,
                depth: 1,
                calls: call.into(),
                at: pc,
            };
            // SAFETY: as in `held`.
            *unsafe { HELD.get() }.entry(lock, || new) = new;
        }
    }
    gate::writes(lock, size_of::<c_int>() as u64);
    gate::touch(lock);
}

/// By these, others meet the lock of a stream that a function holds while it runs, or run meanwhile.
const MEETING: &str = "flockfile ftrylockfile fopencookie";

/// See the module.
fn are_met() -> bool {
    // 0: not known yet.
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    if KNOWN.load(Ordering::Relaxed) == 0 {
        let met = gate::hooked::asks_for(MEETING);
        KNOWN.store(1 + u8::from(met), Ordering::Relaxed);
    }
    KNOWN.load(Ordering::Relaxed) == 2
}

/// A call that holds a lock while it runs: whose, an address in the caller's frame, the lock.
#[derive(Clone, Copy)]
struct Call {
    by: Slot,
    key: usize,
    lock: u64,
}

/// Most calls under way.
const CALLS: usize = 32;

struct Calls {
    all: [Option<Call>; CALLS],
    count: usize,
}

static UNDER_WAY: Serial<Calls> = Serial::new(Calls {
    all: [None; CALLS],
    count: 0,
});

fn under_way() -> &'static mut Calls {
    // SAFETY: the running thread; the callers' references end before anything switches.
    unsafe { UNDER_WAY.get() }
}

/// A function of streams is about to be called, which locks its stream until it returns; [`leave`] follows,
/// with the same `key`, an address in the caller's frame.
pub fn enter(name: &str, values: &[u64], key: usize, pc: usize) {
    if !gate::several() || !are_met() {
        return;
    }
    let all = name == "fcloseall" || name.starts_with("fflush") && values.first() == Some(&0);
    if all && gate::asking::explores() {
        gate::uncontrolled("a function that locks all streams, one after another");
    }
    let Some(stream) = states::locked_stream(name, values) else {
        return;
    };
    control_streams();
    let (lock, by) = (lock_of(stream as *mut FILE), gate::me());
    if lock == 0 {
        return;
    }
    abandon(by, key + 1);
    if held(lock).is_none_or(|held| held.by != by) {
        gate::point(Pending {
            ready,
            holder,
            ..sync::pending(Kind::MutexLock, lock, pc)
        });
        took(lock, true, pc);
        gate::log(Kind::MutexLock, lock, 0, pc);
    } else {
        took(lock, true, pc);
    }
    let calls = under_way();
    match calls.all.iter_mut().find(|call| call.is_none()) {
        Some(free) => {
            *free = Some(Call { by, key, lock });
            calls.count += 1;
        }
        None => {
            gate::uncontrolled("many calls of functions of streams under way");
            without_call(lock);
        }
    }
}

/// A call is no longer known to hold this lock: the lock's own word says whether it is held.
fn without_call(lock: u64) {
    // SAFETY: the running thread; the reference ends here.
    if let Some(held) = unsafe { HELD.get() }.get(lock) {
        held.calls -= 1;
    }
}

/// Calls of this thread whose frames lie below `limit` will not return: a jump, an exception or the end of the
/// thread leads out of them. The C library unlocks the stream, but where the way is a jump.
pub fn abandon(by: Slot, limit: usize) {
    let calls = under_way();
    if calls.count == 0 {
        return;
    }
    for place in &mut calls.all {
        if let Some(call) = place.take_if(|call| call.by == by && call.key < limit) {
            calls.count -= 1;
            without_call(call.lock);
        }
    }
}

/// It has returned.
pub fn leave(key: usize, pc: usize) {
    if under_way().count == 0 {
        return;
    }
    let by = gate::me();
    let calls = under_way();
    let mut all = calls.all.iter_mut();
    let Some(place) = all.find(|call| call.is_some_and(|call| (call.by, call.key) == (by, key)))
    else {
        return;
    };
    let lock = place.take().map_or(0, |call| call.lock);
    calls.count -= 1;
    let last = held(lock).is_some_and(|held| held.depth == 1);
    if last {
        gate::simple(Kind::MutexUnlock, lock, pc);
    }
    if let Some(held) = held(lock) {
        (held.depth, held.calls) = (held.depth - 1, held.calls - 1);
    }
    if last {
        gate::writes(lock, size_of::<c_int>() as u64);
        gate::log(Kind::MutexUnlock, lock, 0, pc);
        gate::touch(lock);
    }
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
        took(lock, false, pc);
        gate::log(Kind::MutexLock, lock, 0, pc);
    };
    fn ftrylockfile(stream: *mut FILE) -> c_int, pc => {
        control_streams();
        let lock = lock_of(stream);
        gate::simple(Kind::MutexTryLock, lock, pc);
        let result = real::ftrylockfile(stream);
        match result {
            0 => took(lock, false, pc),
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
