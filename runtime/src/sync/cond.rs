//! Condition variables: a wait is two steps, giving the mutex up and having it back.

use super::destroyed::Kept;
use super::model::queue::{Queue, Stage};
use super::models::Models;
use super::{WAITERS, check_alive, misuse, mutex, pending, returning, shared, spurious};
use crate::gate::{self, Pending, Wake};
use crate::time::{self, Clock};
use crate::{intercept, process};
use core::ffi::{c_int, c_uint};
use libc::{
    ECANCELED, EINVAL, ETIMEDOUT, clockid_t, pthread_cond_t, pthread_condattr_t, pthread_mutex_t,
    timespec,
};
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::{Slot, slot};

/// The word is `__g1_orig_size`, which counts only while threads wait.
const OBJECT: Kept = Kept {
    what: "a condition variable",
    word: 32,
};

/// Messages of the findings.
pub mod says {
    pub const NOT_HELD: &str =
        "a thread waits on a condition variable with a mutex that it does not hold";
    pub const DESTROYED_WAITING: &str =
        "a condition variable was destroyed while threads wait on it";
    pub const INIT_WAITING: &str =
        "a condition variable was initialised again while threads wait on it";
}

/// Who waits for a signal, for each condition on which anybody has waited.
static MODELS: Models<Queue> = Models::new();

fn queue(object: u64) -> &'static mut Queue {
    MODELS.entry(object, || Queue::EMPTY)
}

/// Forgets the conditions in `from..to`. Whoever still waits on one waits for ever.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

/// Where glibc keeps attributes: low bits of `__wrefs`.
///
/// # Safety
/// `c` points to a condition variable.
unsafe fn attributes(c: *const pthread_cond_t) -> c_uint {
    const WREFS: usize = 36;
    // SAFETY: within the object, aligned as in glibc's type.
    unsafe { c.byte_add(WREFS).cast::<c_uint>().read() }
}

/// May another process wait on it, or signal it?
///
/// # Safety
/// As [`attributes`].
unsafe fn is_shared(c: *const pthread_cond_t) -> bool {
    const SHARED: c_uint = 1;
    // SAFETY: the caller's promise.
    shared::in_use(unsafe { attributes(c) } & SHARED != 0)
}

/// The clock that `pthread_condattr_setclock` chose.
///
/// # Safety
/// `c` points to a condition variable.
pub unsafe fn clock_of(c: *const pthread_cond_t) -> Clock {
    const MONOTONIC: c_uint = 2;
    // SAFETY: the caller's promise.
    if unsafe { attributes(c) } & MONOTONIC != 0 {
        Clock::Monotonic
    } else {
        Clock::Wall
    }
}

/// Waits; `deadline`: virtual nanoseconds, 0: none. Returns 0 or an errno.
///
/// # Safety
/// The pointers are those of a condition variable and a mutex.
pub unsafe fn wait(
    c: *mut pthread_cond_t,
    m: *mut pthread_mutex_t,
    deadline: u64,
    pc: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { wait_as(c, m, deadline, true, pc) }
}

/// [`wait`] as no cancellation point.
///
/// # Safety
/// As [`wait`].
pub unsafe fn wait_through(
    c: *mut pthread_cond_t,
    m: *mut pthread_mutex_t,
    deadline: u64,
    pc: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { wait_as(c, m, deadline, false, pc) }
}

unsafe fn wait_as(
    c: *mut pthread_cond_t,
    m: *mut pthread_mutex_t,
    deadline: u64,
    cancellable: bool,
    pc: usize,
) -> c_int {
    let object = c as u64;
    // SAFETY: the caller's promise, also below.
    unsafe { OBJECT.check(object, pc) };
    // SAFETY: as above.
    let refused = unsafe { mutex::check_held(m, says::NOT_HELD, pc) };
    if refused != 0 {
        return refused;
    }

    gate::point(Pending {
        aux: m as u64,
        ..Pending::always(Kind::CondWait, object, pc)
    });
    // SAFETY: the program's condition.
    unsafe { OBJECT.check(object, pc) };
    let me = gate::me();
    // SAFETY: as above; the running thread.
    unsafe {
        WAITERS.get().push(queue(object), me, object, u32::MAX);
        mutex::give_up(m, pc);
    }
    // SAFETY: as above. While a child lives it may be the child that is waited for.
    let outside = unsafe { is_shared(c) } && gate::told(process::any_alive());
    let spurious = if outside { None } else { spurious::chosen() };
    let released = outside || spurious == Some(true);
    if released {
        // SAFETY: the running thread.
        unsafe { WAITERS.get() }.release(queue(object), me);
    }
    gate::log_full(Event {
        kind: Kind::CondWait as u8,
        aux: u32::from(deadline != 0),
        object,
        value: m as u64,
        pc: pc as u64,
        ..Event::default()
    });
    if let Some(chosen) = spurious {
        gate::log_choice(usize::from(chosen), 2);
    }

    if outside {
        shared::pause();
    }
    let wake = match released {
        true => gate::point(Pending {
            aux: m as u64,
            ready: mutex::ready,
            holder: mutex::holder,
            cancellable: outside,
            outside: process::has_forked(),
            ..pending(Kind::CondWake, m as u64, pc)
        }),
        false => gate::point(Pending {
            aux: m as u64,
            deadline,
            cancellable,
            ..pending(Kind::CondWake, object, pc)
        }),
    };
    // Its thread may still be in the wait, which ends by that, or have left it.
    let signalled = !outside && stage_of(me) == Stage::Released;
    let signalled = signalled && !mutex::is_foreign(m);
    let asked = cancellable && signalled && gate::cancel_of(me) == gate::Cancel::Deferred;
    let choice = asked.then(|| gate::choose(2));
    let mut result = match end_of_wait(object, me, wake, pc) {
        0 if choice == Some(1) => ECANCELED,
        0 if outside && wake == Wake::Cancelled => ECANCELED,
        0 if outside && deadline != 0 && deadline <= gate::now() => ETIMEDOUT,
        result => result,
    };
    // SAFETY: as above.
    match unsafe { have_back(c, m, result, pc) } {
        0 => {}
        code if result != ECANCELED => result = code,
        _ => {}
    }
    gate::log(Kind::CondWake, object, result as u64, pc);
    if let Some(chosen) = choice {
        gate::log_choice(chosen, 2);
    }
    if result == ECANCELED {
        crate::threads::cancel_now();
    }
    result
}

/// Takes the mutex back, with more steps if it is not to be had at once: 0 or an errno. `result`: that
/// of the wait.
///
/// # Safety
/// As [`wait`].
unsafe fn have_back(
    c: *mut pthread_cond_t,
    m: *mut pthread_mutex_t,
    result: c_int,
    pc: usize,
) -> c_int {
    let leave = || gate::log(Kind::CondLeave, c as u64, result as u64, pc);
    // SAFETY: the caller's promise.
    unsafe {
        if mutex::is_foreign(m) {
            leave();
            return mutex::take_back_outside(m, pc);
        }
        while !mutex::available(m, pc) {
            leave();
            gate::point(Pending {
                ready: mutex::ready,
                holder: mutex::holder,
                outside: process::has_forked(),
                ..pending(Kind::CondWake, m as u64, pc)
            });
        }
        mutex::take_back(m, pc)
    }
}

fn stage_of(thread: Slot) -> Stage {
    // SAFETY: the running thread.
    unsafe { WAITERS.get() }.of(thread).stage
}

/// Takes the thread out of the queue if nobody has done so: 0, ETIMEDOUT or ECANCELED.
fn end_of_wait(object: u64, me: Slot, wake: Wake, pc: usize) -> c_int {
    // SAFETY: the running thread.
    let waiters = unsafe { WAITERS.get() };
    if waiters.of(me).stage == Stage::Released {
        waiters.done(me);
        return 0;
    }
    // SAFETY: the program's condition.
    unsafe { OBJECT.check(object, pc) };
    waiters.leave(queue(object), me);
    match wake {
        Wake::Cancelled => ECANCELED,
        Wake::TimedOut | Wake::Ready | Wake::Interrupted => ETIMEDOUT,
    }
}

/// From now on `who` waits for its mutex only.
fn release(queue: &mut Queue, who: Slot) {
    // SAFETY: the running thread.
    unsafe { WAITERS.get() }.release(queue, who);
    gate::amend(who, |p| {
        p.object = p.aux;
        p.deadline = 0;
        p.cancellable = false;
        p.ready = mutex::ready;
        p.holder = mutex::holder;
    });
}

fn nth(queue: &Queue, n: usize) -> Option<Slot> {
    // SAFETY: the running thread.
    unsafe { WAITERS.get() }.nth(queue, u32::MAX, n)
}

/// How many wait and have not been woken.
pub fn waiting(c: *mut pthread_cond_t) -> usize {
    MODELS.get(c as u64).map_or(0, |queue| queue.len())
}

/// Wakes one waiter; which one is a choice.
pub fn signal(c: *mut pthread_cond_t, pc: usize) -> c_int {
    wake_one(c, pc);
    returning(0, pc)
}

/// The step of [`signal`]: whom, if there was anybody?
pub fn wake_one(c: *mut pthread_cond_t, pc: usize) -> Option<Slot> {
    let object = c as u64;
    gate::simple(Kind::CondSignal, object, pc);
    // SAFETY: the program's condition.
    unsafe { OBJECT.check(object, pc) };
    let waiting = waiting(c);
    let picked = if waiting < 2 {
        0
    } else {
        gate::choose(waiting)
    };
    let woken = nth(queue(object), picked);
    if let Some(who) = woken {
        release(queue(object), who);
    }
    // SAFETY: the program's condition; no thread of ours waits there.
    unsafe {
        if is_shared(c) {
            real::pthread_cond_signal(c);
        }
    }
    let value = u64::from(woken.unwrap_or(slot::NONE));
    gate::log(Kind::CondSignal, object, value, pc);
    if waiting >= 2 {
        gate::log_choice(picked, waiting);
    }
    woken
}

/// Wakes all waiters.
pub fn broadcast(c: *mut pthread_cond_t, pc: usize) -> c_int {
    wake_all(c, pc);
    returning(0, pc)
}

/// The step of [`broadcast`]: how many there were.
pub fn wake_all(c: *mut pthread_cond_t, pc: usize) -> usize {
    let object = c as u64;
    gate::simple(Kind::CondBroadcast, object, pc);
    // SAFETY: the program's condition.
    unsafe { OBJECT.check(object, pc) };
    let mut woken = 0;
    while let Some(who) = nth(queue(object), 0) {
        release(queue(object), who);
        woken += 1;
    }
    // SAFETY: as in [`signal`].
    unsafe {
        if is_shared(c) {
            real::pthread_cond_broadcast(c);
        }
    }
    gate::log(Kind::CondBroadcast, object, woken as u64, pc);
    woken
}

/// Destroys. Threads that were signalled and do not have their mutex back are no obstacle: they
/// do not touch the condition any more.
pub fn destroy(c: *mut pthread_cond_t, pc: usize) -> c_int {
    let object = c as u64;
    gate::simple(Kind::CondDestroy, object, pc);
    // SAFETY: the program's condition.
    unsafe { OBJECT.check(object, pc) };
    gate::log(Kind::CondDestroy, object, 0, pc);
    if MODELS.remove(object).is_some_and(|q| !q.is_empty()) {
        misuse(says::DESTROYED_WAITING, object, pc);
    }
    // SAFETY: as above.
    unsafe {
        if !is_shared(c) {
            OBJECT.bury(object);
        }
    }
    0
}

/// Initialises: `initialise` lets the C library write the object.
pub fn init(c: *mut pthread_cond_t, pc: usize, initialise: impl FnOnce() -> c_int) -> c_int {
    let object = c as u64;
    gate::renews(object, size_of::<pthread_cond_t>(), pc);
    check_alive(OBJECT.what, object, pc);
    if MODELS.remove(object).is_some_and(|q| !q.is_empty()) {
        misuse(says::INIT_WAITING, object, pc);
    }
    super::note(Kind::CondInit, object, pc);
    super::begins(object);
    super::initialising(object, size_of::<pthread_cond_t>(), pc, initialise)
}

/// Waits at most until `at` by `clock`.
///
/// # Safety
/// As [`wait`]; `at` is readable.
pub unsafe fn wait_until(
    c: *mut pthread_cond_t,
    m: *mut pthread_mutex_t,
    clock: Clock,
    at: *const timespec,
    pc: usize,
) -> c_int {
    // SAFETY: the caller's promise.
    match time::deadline(clock, unsafe { &*at }) {
        // SAFETY: as above.
        Some(deadline) => unsafe { wait(c, m, deadline, pc) },
        None => EINVAL,
    }
}

intercept! {
    fn pthread_cond_init(c: *mut pthread_cond_t, attr: *const pthread_condattr_t) -> c_int,
        pc => init(c, pc, || real::pthread_cond_init(c, attr));
    fn pthread_cond_destroy(c: *mut pthread_cond_t) -> c_int, pc => destroy(c, pc);
    fn pthread_cond_wait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t) -> c_int,
        pc => wait(c, m, 0, pc);
    fn pthread_cond_timedwait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t, at: *const timespec) -> c_int,
        pc => wait_until(c, m, clock_of(c), at, pc);
    fn pthread_cond_clockwait(c: *mut pthread_cond_t, m: *mut pthread_mutex_t, clock: clockid_t, at: *const timespec) -> c_int,
        pc => match Clock::for_waiting(clock) {
            Some(clock) => wait_until(c, m, clock, at, pc),
            None => EINVAL,
        };
    fn pthread_cond_signal(c: *mut pthread_cond_t) -> c_int, pc => signal(c, pc);
    fn pthread_cond_broadcast(c: *mut pthread_cond_t) -> c_int, pc => broadcast(c, pc);
}
