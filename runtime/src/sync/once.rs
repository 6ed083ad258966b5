//! `pthread_once`, and `call_once`, whose control is the same.

use super::model::once::{Enter, Once};
use super::models::Models;
use super::{check_alive, pending};
use crate::gate::{self, Pending};
use crate::shadow::{is_followed, one_body};
use crate::{export, intercept};
use core::ffi::{CStr, c_int};
use libc::pthread_once_t;
use raddle_protocol::event::{Event, Kind};
use raddle_protocol::{Slot, slot};

const WHAT: &str = "a once control";

/// What glibc keeps in the control when the routine has returned.
const RETURNED: pthread_once_t = 2;

static MODELS: Models<Once> = Models::new();

/// Forgets the controls in `from..to`.
pub fn forget(from: u64, to: u64) {
    MODELS.forget(from, to);
}

fn ready(p: &Pending, _: Slot) -> bool {
    MODELS.get(p.object).is_none_or(|o| o.may_enter())
}

fn holder(p: &Pending) -> (Slot, usize) {
    match MODELS.get(p.object) {
        Some(o) if o.runner != slot::NONE => (o.runner, o.entered_at),
        _ => super::nobody(p),
    }
}

/// The running routine. Dropped: it was left by an exception or a cancellation, and the next thread
/// to enter runs it.
struct Running {
    object: u64,
    pc: usize,
}

impl Drop for Running {
    fn drop(&mut self) {
        leave(self.object, Control::Once, false, self.pc, || {});
    }
}

/// What kind of control it is; the `size` of its records.
#[derive(Clone, Copy)]
enum Control {
    Once = 0,
    /// Of a variable that is initialised when a thread comes to it.
    Guard = Event::GUARD as isize,
    /// The same, where the code that looks at the guard is followed: its content is a variable like others.
    FollowedGuard = Event::FOLLOWED_GUARD as isize,
}

impl Control {
    /// Of a guard, for the function of this name, which was called.
    fn of_guard(function: &CStr) -> Control {
        match is_followed(function) {
            true => Control::FollowedGuard,
            false => Control::Guard,
        }
    }
}

/// The step with which whoever ran the routine of `object` leaves it: it has `returned`, which
/// `note` writes into the object, or was left by an exception.
fn leave(object: u64, control: Control, returned: bool, pc: usize, note: impl FnOnce()) {
    gate::point(Pending {
        aux: u64::from(!returned),
        ..Pending::always(Kind::OnceDone, object, pc)
    });
    if returned {
        note();
    }
    if let Some(once) = MODELS.get(object) {
        once.leave();
    }
    gate::touch(object);
    log(Kind::OnceDone, control, object, !returned, pc);
    gate::returns(pc);
}

fn log(kind: Kind, control: Control, object: u64, value: bool, pc: usize) {
    gate::log_full(Event {
        kind: kind as u8,
        size: control as u8,
        object,
        value: u64::from(value),
        pc: pc as u64,
        ..Event::default()
    });
}

/// Runs `routine` unless that was done.
///
/// # Safety
/// `control` points to a once control.
pub unsafe fn once(
    control: *mut pthread_once_t,
    routine: extern "C-unwind" fn(),
    pc: usize,
) -> c_int {
    if crate::foreign::sanitizers::reports(pc) {
        // SAFETY: the caller's arguments, handed on.
        return unsafe { real::pthread_once(control, routine) };
    }
    let object = control as u64;
    check_alive(WHAT, object, pc);
    gate::point(Pending {
        ready,
        holder,
        ..pending(Kind::OnceEnter, object, pc)
    });
    check_alive(WHAT, object, pc);
    // SAFETY: the caller's promise.
    let returned = unsafe { control.read() } == RETURNED;
    let entered = MODELS
        .entry(object, || Once::IDLE)
        .enter(returned, gate::me(), pc);
    gate::touch(object);
    let runs = entered == Enter::Run;
    log(Kind::OnceEnter, Control::Once, object, runs, pc);
    if runs {
        let running = Running { object, pc };
        routine();
        core::mem::forget(running);
        leave(object, Control::Once, true, pc, || {
            check_alive(WHAT, object, pc);
            gate::writes(object, size_of::<pthread_once_t>() as u64);
            // SAFETY: the caller's promise.
            unsafe { control.write(RETURNED) };
        });
    }
    0
}

/// A thread comes to the definition of a variable whose guard this is: true if it is to initialise
/// it, and to call [`release`] then.
///
/// # Safety
/// `guard` points to a guard.
pub unsafe fn acquire(guard: *mut u64, pc: usize) -> bool {
    let control = Control::of_guard(c"__cxa_guard_acquire");
    let object = guard as u64;
    // SAFETY: the caller's promise, also below.
    let initialised = || unsafe { guard.cast::<u8>().read_volatile() } != 0;
    if initialised() {
        return false;
    }
    gate::point(Pending {
        ready,
        holder,
        ..pending(Kind::OnceEnter, object, pc)
    });
    let entered = MODELS
        .entry(object, || Once::IDLE)
        .enter(initialised(), gate::me(), pc);
    gate::touch(object);
    let runs = entered == Enter::Run;
    log(Kind::OnceEnter, control, object, runs, pc);
    runs
}

/// The initialisation has ended, or was left by an exception (`done` is false).
///
/// # Safety
/// As [`acquire`], which returned true.
pub unsafe fn release(guard: *mut u64, done: bool, pc: usize) {
    let control = Control::of_guard(match done {
        true => c"__cxa_guard_release",
        false => c"__cxa_guard_abort",
    });
    let object = guard as u64;
    match control {
        Control::FollowedGuard if done => one_body::write(Kind::AtomicWrite, object, 1, 1, pc),
        _ => {}
    }
    leave(object, control, done, pc, || {
        // SAFETY: the caller's promise.
        unsafe { guard.cast::<u8>().write_volatile(1) };
    });
}

intercept! {
    fn pthread_once(control: *mut pthread_once_t, routine: extern "C-unwind" fn()) -> c_int,
        pc => once(control, routine, pc);
}

export! {
    /// An older name that the C library still offers.
    fn __pthread_once(control: *mut pthread_once_t, routine: extern "C-unwind" fn()) -> c_int = on::pthread_once;
}
