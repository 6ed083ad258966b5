//! Barriers: a wait is two steps, to arrive and to leave.

use super::destroyed::Kept;
use super::model::barrier::{Barrier, says};
use super::models::Models;
use super::{WAITERS, always, check_alive, misuse, pending, settle, shared};
use crate::gate::{self, Pending};
use crate::intercept;
use core::ffi::{c_int, c_uint};
use core::sync::atomic::{AtomicU32, Ordering};
use libc::{PTHREAD_BARRIER_SERIAL_THREAD, pthread_barrier_t, pthread_barrierattr_t};
use raddle_protocol::Slot;
use raddle_protocol::event::Kind;

/// The word says whether other processes use it.
const OBJECT: Kept = Kept {
    what: "a barrier",
    word: 12,
};

static MODELS: Models<Barrier> = Models::new();

fn model(object: u64) -> &'static mut Barrier {
    MODELS.entry(object, || Barrier::IDLE)
}

/// Forgets the barriers in `from..to`. Whoever still waits at one waits for ever.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

/// How many threads make a round, where glibc keeps it.
///
/// # Safety
/// `b` points to a barrier.
unsafe fn count(b: *const pthread_barrier_t) -> c_uint {
    const COUNT: usize = 8;
    // SAFETY: within the object, aligned as in glibc's type.
    unsafe { b.byte_add(COUNT).cast::<c_uint>().read() }
}

/// glibc's `pthread_barrier_t`.
#[repr(C)]
struct Native {
    /// Threads that have come, and the number of the last of them that may go.
    arrived: AtomicU32,
    round: AtomicU32,
    count: u32,
    shared: c_int,
    left: AtomicU32,
}

impl Native {
    /// # Safety
    /// `object` is the address of a barrier.
    unsafe fn of<'a>(object: u64) -> &'a Native {
        // SAFETY: the caller's promise; the layout is glibc's.
        unsafe { &*(object as *const Native) }
    }
}

/// May whoever came with the number in `aux` leave?
fn is_complete(p: &Pending, _: Slot) -> bool {
    // SAFETY: the program waits at this barrier.
    let round = unsafe { Native::of(p.object) }
        .round
        .load(Ordering::Acquire);
    u64::from(round) >= p.aux
}

/// A wait at a barrier that other processes use, as the C library waits
/// (`nptl/pthread_barrier_wait.c`; its numbers begin again after 2^31 waits, ours do not).
///
/// # Safety
/// `object` is the address of a barrier.
unsafe fn wait_with_others(object: u64, pc: usize) -> c_int {
    // SAFETY: the caller's promise.
    let native = unsafe { Native::of(object) };
    let number = native.arrived.fetch_add(1, Ordering::AcqRel) + 1;
    let (count, mut round) = (native.count, native.round.load(Ordering::Relaxed));
    let mut last = false;
    while !last && round + count <= number {
        let (new, order) = (number - number % count, Ordering::Relaxed);
        match native.round.compare_exchange(round, new, order, order) {
            Ok(_) => last = true,
            Err(now) => round = now,
        }
    }
    gate::log(Kind::BarrierArrive, object, u64::from(last), pc);
    if last {
        shared::wake_all(native.round.as_ptr());
        gate::touch(object);
    }
    gate::point(Pending {
        aux: u64::from(number),
        ready: is_complete,
        outside: true,
        ..pending(Kind::BarrierLeave, object, pc)
    });
    native.left.fetch_add(1, Ordering::Release);
    let result = match number % count {
        0 => PTHREAD_BARRIER_SERIAL_THREAD,
        _ => 0,
    };
    gate::log(Kind::BarrierLeave, object, result as u64, pc);
    result
}

unsafe fn wait(b: *mut pthread_barrier_t, pc: usize) -> c_int {
    let object = b as u64;
    gate::simple(Kind::BarrierArrive, object, pc);
    // SAFETY: the program's barrier, also below.
    unsafe { OBJECT.check(object, pc) };
    // SAFETY: as above.
    let count = unsafe { count(b) };
    if count == 0 {
        misuse(says::UNINITIALISED, object, pc);
    }
    // SAFETY: as above.
    if shared::in_use(unsafe { Native::of(object) }.shared != 0) {
        // SAFETY: as above.
        return unsafe { wait_with_others(object, pc) };
    }
    let last = model(object).completes(count);
    gate::log(Kind::BarrierArrive, object, u64::from(last), pc);
    if last {
        release_all(object);
    } else {
        // SAFETY: the running thread.
        let waiters = unsafe { WAITERS.get() };
        waiters.push(&mut model(object).waiting, gate::me(), object, u32::MAX);
    }

    gate::point(Pending {
        ready: if last { always } else { super::never },
        ..pending(Kind::BarrierLeave, object, pc)
    });
    // SAFETY: as above.
    unsafe { WAITERS.get() }.done(gate::me());
    let result = if last {
        PTHREAD_BARRIER_SERIAL_THREAD
    } else {
        0
    };
    gate::log(Kind::BarrierLeave, object, result as u64, pc);
    result
}

fn release_all(object: u64) {
    let queue = &mut model(object).waiting;
    // SAFETY: the running thread.
    let waiters = unsafe { WAITERS.get() };
    while let Some(who) = waiters.nth(queue, u32::MAX, 0) {
        waiters.release(queue, who);
        gate::amend(who, |p| p.ready = always);
    }
}

unsafe fn init(b: *mut pthread_barrier_t, pc: usize, initialise: impl FnOnce() -> c_int) -> c_int {
    let object = b as u64;
    gate::renews(object, size_of::<pthread_barrier_t>(), pc);
    check_alive(OBJECT.what, object, pc);
    settle(model(object).init(), object, pc);
    let code = super::initialising(object, size_of::<pthread_barrier_t>(), pc, initialise);
    if code == 0 {
        // SAFETY: the program's barrier.
        super::initialised(object, unsafe { count(b) }.into());
        super::note(Kind::BarrierInit, object, pc);
    }
    code
}

unsafe fn destroy(b: *mut pthread_barrier_t, pc: usize) -> c_int {
    let object = b as u64;
    gate::simple(Kind::BarrierDestroy, object, pc);
    // SAFETY: the program's barrier, also below.
    unsafe { OBJECT.check(object, pc) };
    gate::log(Kind::BarrierDestroy, object, 0, pc);
    let code = settle(model(object).destroy(), object, pc);
    MODELS.remove(object);
    // SAFETY: as above.
    unsafe {
        if !shared::in_use(Native::of(object).shared != 0) {
            OBJECT.bury(object);
        }
    }
    code
}

intercept! {
    fn pthread_barrier_init(b: *mut pthread_barrier_t, attr: *const pthread_barrierattr_t, count: c_uint) -> c_int,
        pc => init(b, pc, || real::pthread_barrier_init(b, attr, count));
    fn pthread_barrier_destroy(b: *mut pthread_barrier_t) -> c_int, pc => destroy(b, pc);
    fn pthread_barrier_wait(b: *mut pthread_barrier_t) -> c_int, pc => wait(b, pc);
}
