//! Barriers: a wait is two steps, to arrive and to leave.

use super::model::barrier::{Barrier, says};
use super::models::Models;
use super::{WAITERS, always, check_alive, misuse, pending, settle};
use crate::gate::{self, Pending};
use crate::intercept;
use core::ffi::{c_int, c_uint};
use libc::{PTHREAD_BARRIER_SERIAL_THREAD, pthread_barrier_t, pthread_barrierattr_t};
use raddle_protocol::event::Kind;

const WHAT: &str = "a barrier";

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

unsafe fn wait(b: *mut pthread_barrier_t, pc: usize) -> c_int {
    let object = b as u64;
    gate::simple(Kind::BarrierArrive, object, pc);
    check_alive(WHAT, object, pc);
    // SAFETY: the program's barrier.
    let count = unsafe { count(b) };
    if count == 0 {
        misuse(says::UNINITIALISED, object, pc);
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
    check_alive(WHAT, object, pc);
    settle(model(object).init(), object, pc);
    let code = initialise();
    if code == 0 {
        // SAFETY: the program's barrier.
        super::initialised(object, unsafe { count(b) }.into());
    }
    code
}

unsafe fn destroy(b: *mut pthread_barrier_t, pc: usize) -> c_int {
    let object = b as u64;
    gate::simple(Kind::BarrierDestroy, object, pc);
    check_alive(WHAT, object, pc);
    gate::log(Kind::BarrierDestroy, object, 0, pc);
    let code = settle(model(object).destroy(), object, pc);
    MODELS.remove(object);
    code
}

intercept! {
    fn pthread_barrier_init(b: *mut pthread_barrier_t, attr: *const pthread_barrierattr_t, count: c_uint) -> c_int,
        pc => init(b, pc, || real::pthread_barrier_init(b, attr, count));
    fn pthread_barrier_destroy(b: *mut pthread_barrier_t) -> c_int, pc => destroy(b, pc);
    fn pthread_barrier_wait(b: *mut pthread_barrier_t) -> c_int, pc => wait(b, pc);
}
